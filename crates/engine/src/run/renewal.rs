//! Renews a login of the operator's on the host, before a run gets a copy of it.
//!
//! The refresh token never enters a jail, so nobody inside can renew a login that ends in the night. On
//! the host several CLIs with copies of one login would renew it one after the other, and all but the
//! first would be logged out. Makers rotate refresh tokens: each is good for one renewal. So a renewal is made under a lock, by
//! whoever comes first, and its answer is on the disk before anything else is done with it. If this
//! process dies between the maker's answer and the file, that login is lost, and a person logs in again.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use agents::{Renewal, TokenAnswer};
use home::{AgentSettings, Home, Keys};
use serde_json::Value;

use crate::fault::Fault;
use crate::run::credentials::{PersonsVariables, give_all_back, operators_file, read_credentials};
use crate::run::jail::ways_out;
use crate::run::login::question;

/// The file of a run that says when the login that it began with ends.
pub(crate) const LOGIN_ENDS: &str = "login-ends";

/// A login that is good for this long is never renewed, however long its run may take: makers limit how
/// often they renew.
const AHEAD_SECS_MAX: u64 = 60 * 60;

/// A login that ends sooner is renewed, however short its run.
const AHEAD_SECS_MIN: u64 = 10 * 60;

/// A login that ends within this counts as ended: its run could not even begin.
const ENDED_MS: i64 = 10_000;

/// How often a login is looked at again after a refusal, and how long that takes each time.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(400);

/// Why a login that has ended could not be renewed.
#[derive(Debug)]
pub(crate) enum NotRenewed {
    /// Its maker wants the person to log in again, for this reason.
    Refused(&'static str),
    /// Its maker cannot be asked now, or says nothing that can be used.
    Unreachable(io::Error),
    /// A file of ours or theirs cannot be used.
    Fault(Fault),
}

impl NotRenewed {
    /// What becomes of the run of an agent.
    pub(crate) fn fault(
        self,
        name: &str,
        agent: &AgentSettings,
        variables: &PersonsVariables,
    ) -> Fault {
        match self {
            Self::Fault(fault) => fault,
            Self::Unreachable(source) => Fault::Unreachable {
                attempt: format!("renew the login of the agent `{name}`"),
                source,
            },
            Self::Refused(why) => {
                let none = Keys::new();
                let keys = variables.0.as_ref().unwrap_or(&none);
                let said = format!("its login has ended and cannot be renewed ({why})");
                Fault::NotLoggedIn {
                    question: question(name, agent.cli(), &agent.pass_env, keys, Some(&said)),
                }
            }
        }
    }
}

/// Everything that renewing a login looks at.
pub(crate) struct Renewing<'a> {
    pub(crate) home: &'a Home,
    pub(crate) agent: &'a AgentSettings,
    pub(crate) variables: &'a PersonsVariables,
    /// How long the run may take.
    pub(crate) wall_secs: u64,
}

impl Renewing<'_> {
    /// Renews the agent's login if it ends too soon. Gives when it ends, in milliseconds since 1970, as
    /// far as that is known.
    pub(crate) fn renew(&self) -> Result<Option<i64>, NotRenewed> {
        let Some(renewal) = self.agent.cli().renewal() else {
            return Ok(None);
        };
        if self.uses_another_way() {
            return Ok(None);
        }
        let links = self.agent.cli().command(&agents::Task::default()).links;
        let mut files = links
            .iter()
            .filter_map(|link| operators_file(link, self.variables));
        let Some(file) = files.next() else {
            return Ok(None);
        };
        // A link of the operator's own stays one.
        let file = fs::canonicalize(&file).map_err(|error| io_fault("find", &file, error))?;
        let ways = ways_out();
        let ask = |body: &str| {
            sandbox::ask(&ways, renewal.url(), body)
                .map(|answered| TokenAnswer::read(answered.status, &answered.body))
        };
        let login = Login {
            renewal,
            file: &file,
            ahead_ms: ahead_ms(self.wall_secs),
            now_ms: &home::now_ms,
            ask: &ask,
            between_looks: BETWEEN_LOOKS,
        };
        if login.read().is_some_and(|before| login.is_due(&before)) {
            // A CLI on the host may have renewed its copy in a run that goes on.
            give_all_back(self.home);
        }
        login.renew(&self.home.login_lock(&file))
    }

    /// Whether the agent does without its login: a key, or a provider of the person's own.
    fn uses_another_way(&self) -> bool {
        let mut keys = self.agent.cli().key_variables().into_iter();
        let has_key = keys
            .any(|name| self.variables.get(&name).is_some() || self.agent.env.contains_key(&name));
        let args = &self.agent.args;
        has_key || args.iter().any(|word| word.contains("model_provider"))
    }
}

/// How far before its end a login is renewed.
fn ahead_ms(wall_secs: u64) -> i64 {
    let secs = wall_secs.clamp(AHEAD_SECS_MIN, AHEAD_SECS_MAX);
    i64::try_from(secs).unwrap_or(i64::MAX).saturating_mul(1000)
}

/// One login, and how its maker is asked.
struct Login<'a> {
    renewal: Renewal,
    file: &'a Path,
    ahead_ms: i64,
    now_ms: &'a dyn Fn() -> i64,
    ask: &'a dyn Fn(&str) -> io::Result<TokenAnswer>,
    between_looks: Duration,
}

impl Login<'_> {
    fn renew(&self, lock: &Path) -> Result<Option<i64>, NotRenewed> {
        let ends_ms = |login: Option<&Value>| login.and_then(|login| self.renewal.ends_ms(login));
        let before = self.read();
        if !before.as_ref().is_some_and(|login| self.is_due(login)) {
            return Ok(ends_ms(before.as_ref()));
        }
        let _held = hold(lock).map_err(|error| io_fault("lock", lock, error))?;
        // Whoever had the lock before us has renewed it.
        let before = self.read();
        match &before {
            Some(login) if self.is_due(login) => {
                let renewed = self.renew_now(login)?;
                Ok(ends_ms(Some(&renewed)))
            }
            other => Ok(ends_ms(other.as_ref())),
        }
    }

    /// Asks for new tokens and writes them.
    fn renew_now(&self, before: &Value) -> Result<Value, NotRenewed> {
        let Some(request) = self.renewal.request(before) else {
            return Ok(before.clone());
        };
        let why = match (self.ask)(&request.to_string()) {
            Ok(TokenAnswer::Renewed(tokens)) => return self.write(before, &tokens),
            Ok(TokenAnswer::Refused(why)) => NotRenewed::Refused(why),
            Ok(TokenAnswer::Unusable) => {
                NotRenewed::Unreachable(io::Error::other("the answer has no tokens"))
            }
            Err(error) => NotRenewed::Unreachable(error),
        };
        let now = self.settled(before, &why);
        // The person's own CLI was faster, or the old token still does.
        if !self.is_due(&now) || !self.has_ended(&now) {
            tracing::warn!(?why, "a login was not renewed, and is used as it is");
            return Ok(now);
        }
        Err(why)
    }

    /// The login once nobody writes it any more. A refusal means that somebody else may have renewed it
    /// a moment ago, and is about to write it.
    fn settled(&self, before: &Value, why: &NotRenewed) -> Value {
        let looks = if let NotRenewed::Refused(_) = why {
            LOOKS
        } else {
            1
        };
        for look in 1..=looks {
            let now = self.read().unwrap_or_default();
            if now != *before || look == looks {
                return now;
            }
            thread::sleep(self.between_looks);
        }
        before.clone()
    }

    /// Puts new tokens into the operator's file.
    fn write(
        &self,
        before: &Value,
        tokens: &serde_json::Map<String, Value>,
    ) -> Result<Value, NotRenewed> {
        let text = read_credentials(self.file).unwrap_or_default();
        let now: Value = serde_json::from_slice(&text).unwrap_or_default();
        let spent = |login| self.renewal.refresh_token(login).map(str::to_owned);
        // Somebody logged in or out meanwhile: that counts.
        if spent(&now) != spent(before) {
            return Ok(now);
        }
        let at_ms = (self.now_ms)();
        let renewed = self.renewal.renewed(&now, tokens, at_ms, &home::iso(at_ms));
        let is_pretty = text.contains(&b'\n');
        let written = if is_pretty {
            serde_json::to_vec_pretty(&renewed)
        } else {
            serde_json::to_vec(&renewed)
        };
        let written = written.map_err(|error| NotRenewed::Fault(error.into()))?;
        home::keep_tokens_in_mind(self.file);
        replace(self.file, &written).map_err(|error| io_fault("write", self.file, error))?;
        Ok(renewed)
    }

    fn read(&self) -> Option<Value> {
        let text = read_credentials(self.file)?;
        serde_json::from_slice(&text).ok()
    }

    /// Whether a login ends too soon, and can be renewed.
    fn is_due(&self, login: &Value) -> bool {
        let ends_ms = self.renewal.ends_ms(login);
        let is_soon = ends_ms.is_some_and(|ends_ms| self.left_ms(ends_ms) < self.ahead_ms);
        is_soon && self.renewal.refresh_token(login).is_some()
    }

    fn has_ended(&self, login: &Value) -> bool {
        let ends_ms = self.renewal.ends_ms(login);
        ends_ms.is_some_and(|ends_ms| self.left_ms(ends_ms) < ENDED_MS)
    }

    fn left_ms(&self, ends_ms: i64) -> i64 {
        ends_ms.saturating_sub((self.now_ms)())
    }
}

/// Waits until nobody else renews this login. The kernel gives the lock back when its holder ends.
fn hold(lock: &Path) -> io::Result<File> {
    fs::create_dir_all(lock.parent().unwrap_or(Path::new("/")))?;
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(lock)?;
    file.lock()?;
    Ok(file)
}

/// Puts a text in the place of a file at once, for its owner alone, and safe from a power cut.
fn replace(file: &Path, with: &[u8]) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let mut scratch = tempfile::Builder::new()
        .prefix(".credentials")
        .permissions(fs::Permissions::from_mode(0o600))
        .tempfile_in(folder)?;
    scratch.write_all(with)?;
    scratch.as_file().sync_all()?;
    scratch.persist(file).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

fn io_fault(attempt: &str, path: &Path, error: io::Error) -> NotRenewed {
    NotRenewed::Fault(Fault::io(attempt, path, error))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;

    use super::*;

    const NOW_MS: i64 = 1_800_000_000_000;

    struct Scene {
        folder: tempfile::TempDir,
    }

    impl Scene {
        /// A login that ends so many minutes from now.
        fn ending_in(minutes: i64) -> Self {
            let scene = Self {
                folder: tempfile::tempdir().expect("a folder"),
            };
            scene.write(&login("a1", "r1", minutes));
            scene
        }

        fn file(&self) -> PathBuf {
            self.folder.path().join(".credentials.json")
        }

        fn write(&self, login: &Value) {
            fs::write(self.file(), login.to_string()).expect("written");
        }

        fn tokens(&self) -> String {
            let text = fs::read(self.file()).expect("read");
            let login: Value = serde_json::from_slice(&text).expect("JSON");
            let own = &login["claudeAiOauth"];
            format!(
                "{} {} {}",
                own["accessToken"], own["refreshToken"], login["mine"]
            )
            .replace('"', "")
        }

        fn renew(
            &self,
            ask: &dyn Fn(&str) -> io::Result<TokenAnswer>,
        ) -> Result<Option<i64>, NotRenewed> {
            let file = self.file();
            let login = Login {
                renewal: Renewal::Claude,
                file: &file,
                ahead_ms: ahead_ms(15 * 60),
                now_ms: &|| NOW_MS,
                ask,
                between_looks: Duration::ZERO,
            };
            login.renew(&self.folder.path().join("logins/one.lock"))
        }
    }

    fn login(access: &str, refresh: &str, minutes: i64) -> Value {
        json!({ "mine": 7, "claudeAiOauth": {
            "accessToken": access, "refreshToken": refresh, "expiresAt": NOW_MS + minutes * 60_000,
        }})
    }

    fn renewed() -> TokenAnswer {
        TokenAnswer::read(
            200,
            br#"{"access_token":"a2","refresh_token":"r2","expires_in":28800}"#,
        )
    }

    #[test]
    fn a_login_is_renewed_only_if_it_ends_within_its_run() {
        for (minutes, n_asked) in [(-300, 1), (0, 1), (9, 1), (14, 1), (16, 0), (300, 0)] {
            let (scene, n_asks) = (Scene::ending_in(minutes), Cell::new(0));
            let ends = scene.renew(&|_| {
                n_asks.set(n_asks.get() + 1);
                Ok(renewed())
            });
            assert_eq!(n_asks.get(), n_asked, "{minutes}");
            let (tokens, lasts) = match n_asked {
                0 => ("a1 r1 7", minutes),
                _ => ("a2 r2 7", 480),
            };
            assert_eq!(scene.tokens(), tokens, "{minutes}");
            assert_eq!(ends.expect("no fault"), Some(NOW_MS + lasts * 60_000));
        }
        for (wall_secs, expected) in [(1, 10 * 60), (1800, 1800), (u64::MAX, 60 * 60)] {
            assert_eq!(ahead_ms(wall_secs), expected * 1000, "{wall_secs}");
        }
    }

    #[test]
    fn a_renewed_login_is_its_owners_alone_and_nothing_else_is_left() {
        let scene = Scene::ending_in(-1);
        fs::set_permissions(scene.file(), fs::Permissions::from_mode(0o644)).expect("set");
        scene.renew(&|_| Ok(renewed())).expect("renewed");
        let found = fs::metadata(scene.file()).expect("a file");
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
        let names = fs::read_dir(scene.folder.path()).expect("a folder");
        assert_eq!(names.count(), 2, "the login and the folder of locks");
    }

    type Ask = fn() -> io::Result<TokenAnswer>;

    #[test]
    fn only_a_login_that_has_ended_is_asked_about() {
        let refused = || Ok(TokenAnswer::Refused("invalid_grant"));
        let silent = || Err(io::ErrorKind::TimedOut.into());
        let strange = || Ok(TokenAnswer::Unusable);
        for (ask, is_refused) in [(refused as Ask, true), (silent, false), (strange, false)] {
            let scene = Scene::ending_in(-1);
            match scene.renew(&|_| ask()) {
                Err(NotRenewed::Refused(why)) => assert!(is_refused && why == "invalid_grant"),
                Err(NotRenewed::Unreachable(_)) => assert!(!is_refused),
                other => panic!("{other:?}"),
            }
            assert_eq!(scene.tokens(), "a1 r1 7", "nothing is written");
            let still_good = Scene::ending_in(5);
            let ends = still_good.renew(&|_| ask()).expect("it begins");
            assert_eq!(ends, Some(NOW_MS + 5 * 60_000));
        }
    }

    #[test]
    fn what_somebody_else_wrote_meanwhile_counts() {
        for (meanwhile, answer, expected) in [
            // Their own CLI was faster.
            (login("a9", "r9", 480), renewed(), "a9 r9 7"),
            (
                login("a9", "r9", 480),
                TokenAnswer::Refused("invalid_grant"),
                "a9 r9 7",
            ),
            // They logged out.
            (json!({ "mine": 7 }), renewed(), "null null 7"),
            // Something else in the file changed.
            (
                json!({ "mine": 8, "claudeAiOauth": login("a1", "r1", -1)["claudeAiOauth"] }),
                renewed(),
                "a2 r2 8",
            ),
        ] {
            let scene = Scene::ending_in(-1);
            let done = scene.renew(&|_| {
                scene.write(&meanwhile);
                Ok(answer.clone())
            });
            done.expect("no fault");
            assert_eq!(scene.tokens(), expected);
        }
    }

    #[test]
    fn several_at_once_renew_once() {
        let (scene, n_asked) = (Scene::ending_in(-1), AtomicUsize::new(0));
        let ask = |_: &str| {
            n_asked.fetch_add(1, Ordering::SeqCst);
            // Long enough for the others to come.
            thread::sleep(Duration::from_millis(200));
            Ok(renewed())
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| scene.renew(&ask).expect("renewed"));
            }
        });
        assert_eq!(n_asked.load(Ordering::SeqCst), 1);
        assert_eq!(scene.tokens(), "a2 r2 7");
    }

    #[test]
    fn a_login_without_a_refresh_token_is_left_alone() {
        for text in [
            "",
            "no JSON",
            "{}",
            "[1]",
            r#"{"claudeAiOauth":{"accessToken":"a","expiresAt":5}}"#,
        ] {
            let scene = Scene::ending_in(0);
            fs::write(scene.file(), text).expect("written");
            let done = scene.renew(&|_| panic!("nobody is asked"));
            assert!(done.is_ok(), "{text}");
            assert_eq!(fs::read_to_string(scene.file()).expect("read"), text);
        }
    }

    /// The login has nothing to renew it with, so that nobody would be asked in any case.
    #[test]
    fn an_agent_with_a_key_or_a_provider_of_its_own_does_without_its_login() {
        let folder = tempfile::tempdir().expect("a folder");
        let login = r#"{"tokens":{"access_token":"h.eyJleHAiOjE3MDAwMDAwMDB9.s"}}"#;
        fs::write(folder.path().join("auth.json"), login).expect("written");
        let place = folder.path().display().to_string();
        for (given, env, args, is_looked_at) in [
            ("LOG_LEVEL", "LOG_LEVEL", "--verbose", true),
            ("CODEX_API_KEY", "LOG_LEVEL", "", false),
            ("LOG_LEVEL", "OPENAI_API_KEY", "", false),
            ("LOG_LEVEL", "LOG_LEVEL", "model_provider=\"own\"", false),
        ] {
            let agent: AgentSettings = serde_json::from_value(json!({
                "command": [], "pass_env": [], "env": { env: "a value" }, "timeout_secs": 1,
                "idle_secs": null, "kind": "codex", "args": [args],
            }))
            .expect("settings");
            let given = [("CODEX_HOME", place.as_str()), (given, "a value")];
            let given = given.map(|(name, value)| (name.to_owned(), home::Secret::new(value)));
            let renewing = Renewing {
                home: &Home::at(folder.path()),
                agent: &agent,
                variables: &PersonsVariables(Some(given.into_iter().collect())),
                wall_secs: 1,
            };
            let ends_ms = renewing.renew().expect("nobody is asked");
            assert_eq!(ends_ms.is_some(), is_looked_at, "{args} {env}");
        }
    }
}
