# expect: unreadable folders can't be listed by an ordinary user, are skipped and stay
mkdir -p locked/in/ner src/deep/er/locked
echo x > locked/in/ner/f
echo x > src/deep/er/locked/f
chmod 000 locked/in/ner locked/in locked src/deep/er/locked tests src/deep/er 'with space'
