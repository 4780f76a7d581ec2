//! The words by which people name stories, tasks, groups, dependencies and states, in the languages
//! that plans were found in. All are lower case.

use super::boxes;
use crate::keys::state_of_word;
use crate::story::StoryState;

/// In front of a number: a user story.
pub(super) const STORY_WORDS: &[&str] = &[
    "user story",
    "user-story",
    "userstory",
    "story",
    "historia de usuario",
    "história de usuário",
    "historia",
    "história",
    "récit utilisateur",
    "histoire utilisateur",
    "storia utente",
    "benutzergeschichte",
    "nutzergeschichte",
    "anwendergeschichte",
    "historyjka użytkownika",
    "brukerhistorie",
    "användarberättelse",
    "gebruikersverhaal",
    "пользовательская история",
    "пользовательский сценарий",
    "история пользователя",
    "користувацька історія",
    "kullanıcı hikayesi",
    "câu chuyện người dùng",
    "用户故事",
    "用戶故事",
    "使用者故事",
    "使用者情境",
    "ユーザーストーリー",
    "ユーザストーリー",
    "利用シナリオ",
    "사용자 스토리",
    "유저 스토리",
];

/// In front of a number: a task.
pub(super) const TASK_WORDS: &[&str] = &[
    "task",
    "ticket",
    "tarefa",
    "tarea",
    "tâche",
    "attività",
    "aufgabe",
    "zadanie",
    "oppgave",
    "uppgift",
    "taak",
    "задача",
    "завдання",
    "görev",
    "nhiệm vụ",
    "任务",
    "任務",
    "タスク",
    "작업",
    "태스크",
];

/// In front of a number or a letter: a group of stories.
pub(super) const GROUP_WORDS: &[&str] = &[
    "phase",
    "stage",
    "step",
    "sprint",
    "milestone",
    "week",
    "day",
    "iteration",
    "part",
    "section",
    "epic",
    "module",
    "wave",
    "batch",
    "round",
    "priority",
    "tier",
    "track",
    "group",
    "chapter",
    "fase",
    "etapa",
    "étape",
    "schritt",
    "abschnitt",
    "этап",
    "фаза",
    "шаг",
    "giai đoạn",
    "aşama",
    "阶段",
    "階段",
    "步骤",
    "步驟",
    "フェーズ",
    "ステップ",
    "단계",
    "마일스톤",
];

/// What stands before the stories that must be done first. With a colon behind it.
pub(super) const NEEDS: &[&str] = &[
    "depends on",
    "dependencies",
    "dependency",
    "depends",
    "dependent on",
    "deps",
    "requires",
    "required",
    "prerequisites",
    "prerequisite",
    "pre-requisites",
    "prereqs",
    "blocked by",
    "blocked on",
    "needs",
    "after",
    "waits for",
    "dependências",
    "dependência",
    "depende de",
    "dependencias",
    "dependencia",
    "pré-requisitos",
    "requisitos previos",
    "dépendances",
    "dépend de",
    "prérequis",
    "abhängigkeiten",
    "abhängigkeit",
    "abhängig von",
    "hängt ab von",
    "hängt von",
    "benötigt",
    "voraussetzungen",
    "voraussetzung",
    "dipendenze",
    "dipende da",
    "zależności",
    "zależy od",
    "зависимости",
    "зависит от",
    "залежності",
    "avhengigheter",
    "avhenger av",
    "beroenden",
    "afhankelijkheden",
    "afhankelijk van",
    "bağımlılıklar",
    "phụ thuộc",
    "依赖任务",
    "依赖关系",
    "依赖项",
    "依赖",
    "依賴",
    "前置任务",
    "前置条件",
    "前置任務",
    "前置條件",
    "前置",
    "依存関係",
    "依存タスク",
    "依存",
    "前提タスク",
    "의존성",
    "의존",
    "선행 작업",
    "선행",
];

/// The same in the middle of a sentence, without a colon.
pub(super) const NEEDS_INLINE: &[&str] = &[
    "depends on",
    "dependent on",
    "blocked by",
    "depends:",
    "dependencies:",
    "depende de",
    "dépend de",
    "abhängig von",
    "hängt ab von",
    "dipende da",
    "zależy od",
    "зависит от",
    "avhenger av",
    "afhankelijk van",
    "phụ thuộc",
    "依赖于",
    "依赖",
    "依賴",
    "依存",
    "의존",
];

/// A piece of every phrase, in lower case where it is ASCII: most lines hold none of them, and looking
/// for these is cheap.
const STEMS: &[&str] = &[
    "depend", "blocked", "dépend", "abh", "ngt ab", "zale", "зави", "Зави", "avheng", "afhank",
    "phụ", "依", "의존", "dipende", "requires", "needs", "after", "nach", "tigt",
];

/// Says whether a text may hold one of the phrases.
pub(super) fn may_hold_phrase(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    STEMS.iter().any(|stem| lower.contains(stem))
}

/// The same right behind an opening bracket.
pub(super) const NEEDS_IN_BRACKETS: &[&str] = &["requires", "needs", "after", "benötigt", "nach"];

/// What stands before the stories that wait for this one. With a colon behind it.
pub(super) const BLOCKS: &[&str] = &[
    "blocks",
    "blocking",
    "unblocks",
    "blockiert",
    "bloquea",
    "bloqueia",
    "bloque",
    "blocca",
    "блокирует",
    "阻塞",
    "ブロック",
];

/// What stands before a story's state. With a colon behind it.
pub(super) const STATUS: &[&str] = &[
    "status",
    "state",
    "estado",
    "statut",
    "stato",
    "статус",
    "состояние",
    "状态",
    "狀態",
    "ステータス",
    "状態",
    "상태",
    "trạng thái",
    "durum",
    "stan",
];

/// What stands before a story's priority. With a colon behind it.
pub(super) const PRIORITY: &[&str] = &[
    "priority",
    "prioridad",
    "prioridade",
    "priorité",
    "priorità",
    "priorität",
    "priorytet",
    "prioritet",
    "приоритет",
    "优先级",
    "優先級",
    "優先度",
    "우선순위",
];

/// Headings and labels over boxes that say when something is done, and are no stories of their own.
pub(super) const LEGEND: &[&str] = &[
    "legend",
    "status legend",
    "legende",
    "leyenda",
    "legenda",
    "légende",
    "легенда",
    "图例",
    "圖例",
    "凡例",
    "범례",
    "format",
    "status key",
    "key",
];

/// Words for states in other languages than the tables of keys have.
const STATES: &[(&str, StoryState)] = &[
    ("abgeschlossen", StoryState::Passed),
    ("erledigt", StoryState::Passed),
    ("fertig", StoryState::Passed),
    ("offen", StoryState::Open),
    ("in arbeit", StoryState::Open),
    ("concluído", StoryState::Passed),
    ("concluída", StoryState::Passed),
    ("pendente", StoryState::Open),
    ("em andamento", StoryState::Open),
    ("completado", StoryState::Passed),
    ("completada", StoryState::Passed),
    ("hecho", StoryState::Passed),
    ("pendiente", StoryState::Open),
    ("en progreso", StoryState::Open),
    ("terminé", StoryState::Passed),
    ("fait", StoryState::Passed),
    ("à faire", StoryState::Open),
    ("en cours", StoryState::Open),
    ("fatto", StoryState::Passed),
    ("completato", StoryState::Passed),
    ("da fare", StoryState::Open),
    ("in corso", StoryState::Open),
    ("zrobione", StoryState::Passed),
    ("ferdig", StoryState::Passed),
    ("выполнено", StoryState::Passed),
    ("готово", StoryState::Passed),
    ("завершено", StoryState::Passed),
    ("в работе", StoryState::Open),
    ("не начато", StoryState::Open),
    ("已完成", StoryState::Passed),
    ("完成", StoryState::Passed),
    ("未开始", StoryState::Open),
    ("未開始", StoryState::Open),
    ("进行中", StoryState::Open),
    ("進行中", StoryState::Open),
    ("待处理", StoryState::Open),
    ("待處理", StoryState::Open),
    ("未完成", StoryState::Open),
    ("完了", StoryState::Passed),
    ("未着手", StoryState::Open),
    ("완료", StoryState::Passed),
    ("진행중", StoryState::Open),
    ("진행 중", StoryState::Open),
    ("대기", StoryState::Open),
    ("미완료", StoryState::Open),
    ("hoàn thành", StoryState::Passed),
    ("not done", StoryState::Open),
    ("opened", StoryState::Open),
    ("icebox", StoryState::Skipped),
    ("on hold", StoryState::Skipped),
];

/// The state that a word means, with signs and punctuation around it.
pub(super) fn state_of(text: &str) -> Option<StoryState> {
    // A cell may hold a box.
    if let Some(boxed) = boxes::leading(text.trim()).filter(|boxed| boxed.end == text.trim().len())
    {
        return Some(boxed.state);
    }
    let word = bare_word(text);
    if word.is_empty() {
        return state_of_sign(text);
    }
    let lower = word.to_lowercase();
    state_of_word(&lower).or_else(|| {
        let mut states = STATES.iter();
        states
            .find(|(known, _)| *known == lower)
            .map(|(_, state)| *state)
    })
}

/// A word without the signs, brackets and stars around it.
pub(super) fn bare_word(text: &str) -> &str {
    text.trim_matches(|c: char| !c.is_alphanumeric())
}

fn state_of_sign(text: &str) -> Option<StoryState> {
    text.chars().find_map(|sign| match sign {
        '✅' | '☑' | '✔' | '✓' | '🟢' => Some(StoryState::Passed),
        '❌' | '⏳' | '🔄' | '🚧' | '⬜' | '🔲' | '🟡' | '🔴' | '⚪' | '☐' | '📋' | '🏗' => {
            Some(StoryState::Open)
        }
        '⏸' | '⏭' => Some(StoryState::Skipped),
        _ => None,
    })
}

/// What follows one of these words at the beginning of a text, or `None`. Blanks and a number sign
/// between the word and what follows are passed over.
pub(super) fn starts_with_word<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    words.iter().find_map(|word| {
        let rest = strip_prefix_any_case(text, word)?;
        // A word of letters ends where the next letter does not go on with it.
        let goes_on = rest.starts_with(|c: char| c.is_alphabetic())
            && word.ends_with(|c: char| c.is_alphabetic() && (c as u32) < 0x2E80);
        (!goes_on).then(|| rest.trim_start_matches([' ', '\t', '\u{A0}', '#', '-', '_', '.']))
    })
}

/// The rest behind a prefix in any case. Compared letter by letter, because lower case may have
/// another length.
pub(super) fn strip_prefix_any_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let mut rest = text.chars();
    for wanted in prefix.chars() {
        let letter = rest.next()?;
        // Most words differ in their first letter, so the costly comparison comes last.
        let is_equal = letter.to_ascii_lowercase() == wanted
            || (!letter.is_ascii() && letter.to_lowercase().eq(std::iter::once(wanted)));
        if !is_equal {
            return None;
        }
    }
    Some(rest.as_str())
}

/// The longest label, with what stands around it.
const LABEL_BYTES_MAX: usize = 120;

/// What follows a label such as `**Depends on:**` at the beginning of a line, behind its colon.
pub(super) fn after_label<'t>(line: &'t str, words: &[&str]) -> Option<&'t str> {
    // Most lines have no colon near their beginning, and need no closer look.
    let near = &line[..line.floor_char_boundary(LABEL_BYTES_MAX)];
    if !near.contains([':', '：', '|']) {
        return None;
    }
    let line = line.trim_start_matches(|c: char| {
        c.is_whitespace()
            || matches!(c, '>' | '-' | '*' | '+' | '_' | '|')
            || ('\u{2190}'..='\u{2BFF}').contains(&c)
            || c > '\u{1F000}'
    });
    words.iter().find_map(|word| {
        let rest = strip_prefix_any_case(line, word)?;
        let rest = rest.trim_start_matches(['*', '_', ' ', '\u{A0}']);
        let rest = rest.strip_prefix("(s)").unwrap_or(rest);
        let rest = rest.trim_start_matches(['*', '_', ' ']);
        let rest = rest.strip_prefix([':', '：', '|'])?;
        Some(rest.trim_start_matches(['*', '_', ' ', '\t', '|']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_is_looked_for() {
        for phrase in NEEDS_INLINE.iter().chain(NEEDS_IN_BRACKETS) {
            assert!(may_hold_phrase(phrase), "{phrase}");
        }
    }

    #[test]
    fn a_word_for_a_state_is_known_with_signs_around_it() {
        for (text, expected) in [
            ("✅ Complete", Some(StoryState::Passed)),
            ("**[DONE]**", Some(StoryState::Passed)),
            ("erledigt", Some(StoryState::Passed)),
            ("🔄 In Progress", Some(StoryState::Open)),
            ("⏳", Some(StoryState::Open)),
            ("已完成", Some(StoryState::Passed)),
            ("Icebox", Some(StoryState::Skipped)),
            ("Overview", None),
            ("", None),
        ] {
            assert_eq!(state_of(text), expected, "{text}");
        }
    }
}
