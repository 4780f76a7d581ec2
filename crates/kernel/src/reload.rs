//! Takes in a PRD and settings that were edited while the loop was under way, as far as nothing has
//! begun with them.

use std::sync::Arc;

use crate::apply::Moved;
use crate::spec::{LoopSpec, StorySpec};
use crate::state::{State, StoryStatus};

impl State {
    /// New settings hold from the next run on. Pending stories are re-read; new ones are appended,
    /// since runs are named after a story's position. Whatever has begun or ended stays, and so does
    /// a story that the PRD no longer has.
    pub(crate) fn reload(
        &mut self,
        settings: &Arc<str>,
        stories: &[Arc<StorySpec>],
        at_ms: i64,
    ) -> Moved {
        let spec = LoopSpec {
            stories: stories.to_vec(),
            settings: Arc::clone(settings),
            ..LoopSpec::clone(&self.spec)
        };
        for story in Self::of_spec(&spec, at_ms)?.stories {
            let known = self
                .stories
                .iter_mut()
                .find(|known| known.spec.id == story.spec.id);
            match known {
                Some(known) if known.has_begun() => {}
                Some(known) if known.status == StoryStatus::Pending => *known = story,
                Some(_) => {}
                None => self.stories.push(story),
            }
        }
        Arc::make_mut(&mut self.spec).settings = Arc::clone(settings);
        Ok(())
    }
}
