# expect: plain files at names of folders make mkdir fail or ENOTDIR be read as "not there, fine"
rm -r src tests 'with space'
echo file > src
echo file > tests
echo file > 'with space'
