# expect: the checkout folder itself is unreadable and can't be entered, or its mode is never put right
echo x > untracked
chmod 000 .
