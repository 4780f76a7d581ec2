//! Takes in a PRD and settings that were edited while the loop was under way, as far as nothing has
//! begun with them.

use crate::event::{Event, Stamped};
use crate::spec::{LoopSpec, StorySpec};
use crate::state::{State, StoryStatus};

impl State {
    /// New settings hold from the next run on. Stories that have not begun are taken as they are
    /// told now, and new ones come after the others, since runs go by a story's place. What has
    /// begun or ended stays, and so does a story that is not told any more.
    pub(crate) fn reload(
        &mut self,
        settings: &str,
        stories: &[StorySpec],
        at_ms: i64,
    ) -> Result<(), String> {
        let spec = LoopSpec {
            stories: stories.to_vec(),
            settings: settings.to_owned(),
            ..self.spec.clone()
        };
        let first = Stamped {
            at_ms,
            event: Event::LoopStarted {
                spec: Box::new(spec),
            },
        };
        let told = Self::begin(&first).map_err(|illegal| illegal.why)?.stories;
        for story in told {
            match self
                .stories
                .iter_mut()
                .find(|known| known.spec.id == story.spec.id)
            {
                Some(known) if known.status == StoryStatus::Pending => *known = story,
                Some(_) => {}
                None => self.stories.push(story),
            }
        }
        settings.clone_into(&mut self.spec.settings);
        Ok(())
    }
}
