# A scripted implementor: reads its task from standard input, as any agent does, and leaves files behind.
task=$(cat)
case "$LOOPWRIGHT_STORY_ID" in
  greet)
    echo "echo 'Hello, world'" > greet.sh ;;
  shout)
    # The first attempt is careless; the second one has read the feedback.
    case "$task" in
      *"use capitals"*) echo "echo 'HELLO, WORLD'" > shout.sh ;;
      *) echo "echo 'hello, world!'" > shout.sh ;;
    esac ;;
  fly)
    echo "echo 'flap, flap (attempt $LOOPWRIGHT_ATTEMPT)'" > fly.sh ;;
esac
