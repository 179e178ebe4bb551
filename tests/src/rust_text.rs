//! Rust source taken apart as far as audits of it need: code without comments and literals, and the comments alone.

/// A source in two layers of the same lines and columns: what is not of a layer is spaces there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    /// Code; literals keep their quotes only.
    pub code: String,
    /// Comments, with their signs.
    pub comments: String,
}

/// Where a reader stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Code,
    Line,
    /// Block comments hold each other.
    Block(u32),
    Text,
    /// A raw text that ends with so many signs.
    Raw(usize),
    Character,
}

/// Takes a source apart.
#[must_use]
pub fn layers(text: &str) -> Layers {
    let signs: Vec<char> = text.chars().collect();
    let (mut layers, mut within, mut at) = (Layers::default(), Within::Code, 0);
    while at < signs.len() {
        let (next, taken) = step(within, &signs, at);
        let end = (at + taken).min(signs.len());
        let comment = |state| matches!(state, Within::Line | Within::Block(_));
        for &sign in &signs[at..end] {
            let blank = if sign == '\n' { '\n' } else { ' ' };
            let is_comment = comment(within) || comment(next);
            let is_code = within == Within::Code && !is_comment;
            layers.code.push(if is_code { sign } else { blank });
            layers.comments.push(if is_comment && within != Within::Text { sign } else { blank });
        }
        (within, at) = (next, end);
    }
    layers
}

/// The state after the next signs, and how many they are.
fn step(within: Within, signs: &[char], at: usize) -> (Within, usize) {
    let next = |ahead: usize| signs.get(at + ahead).copied().unwrap_or(' ');
    let pair = (next(0), next(1));
    match (within, pair) {
        (Within::Code, ('/', '/')) => (Within::Line, 2),
        (Within::Code, ('/', '*')) => (Within::Block(1), 2),
        (Within::Code, ('"', _)) => (Within::Text, 1),
        (Within::Code, ('r', '"' | '#')) if !is_word(signs, at) => {
            let marks = signs[at + 1..].iter().take_while(|&&sign| sign == '#').count();
            if next(1 + marks) == '"' { (Within::Raw(marks), 2 + marks) } else { (Within::Code, 1) }
        }
        // A character, unless it is a lifetime.
        (Within::Code, ('\'', second)) if second == '\\' || next(2) == '\'' => (Within::Character, 1),
        (Within::Line, ('\n', _)) => (Within::Code, 1),
        (Within::Block(deep), ('/', '*')) => (Within::Block(deep + 1), 2),
        (Within::Block(1), ('*', '/')) => (Within::Code, 2),
        (Within::Block(deep), ('*', '/')) => (Within::Block(deep - 1), 2),
        (Within::Text | Within::Character, ('\\', _)) => (within, 2),
        (Within::Text, ('"', _)) | (Within::Character, ('\'', _)) => (Within::Code, 1),
        (Within::Raw(marks), ('"', _)) if (1..=marks).all(|ahead| next(ahead) == '#') => {
            (Within::Code, 1 + marks)
        }
        _ => (within, 1),
    }
}

/// The `r` at `at` ends a longer word, so it opens no raw text; `br` and `cr` open one.
fn is_word(signs: &[char], at: usize) -> bool {
    let word = |back: usize| {
        let sign = at.checked_sub(back).and_then(|at| signs.get(at)).copied().unwrap_or(' ');
        sign.is_alphanumeric() || sign == '_'
    };
    let prefix = at.checked_sub(1).is_some_and(|at| matches!(signs[at], 'b' | 'c'));
    if prefix { word(2) } else { word(1) }
}

/// Code without the items behind an attribute that leaves them out of what is meant, `#[cfg(test)]` and the like; and
/// the names of the modules that lie in files of their own and are so left out.
#[must_use]
pub fn without(text: &str, attributes: &[&str]) -> (String, Vec<String>) {
    let text: Vec<char> = text.chars().collect();
    let mut code: Vec<char> = layers(&text.iter().collect::<String>()).code.chars().collect();
    let mut modules = Vec::new();
    for attribute in attributes {
        let wanted: Vec<char> = attribute.chars().collect();
        for at in 0..text.len() {
            if code[at] == '#' && text[at..].starts_with(&wanted) {
                let end = item_end(&code, at + wanted.len());
                let item: String = code[at + wanted.len()..end].iter().collect();
                modules
                    .extend(item.trim_end_matches(';').split_once("mod ").map(|(_, name)| name.to_string()));
                code[at..end].iter_mut().filter(|sign| **sign != '\n').for_each(|sign| *sign = ' ');
            }
        }
    }
    (code.into_iter().collect(), modules)
}

/// Behind the `;` or the closing brace of the item that begins at `at`.
fn item_end(code: &[char], at: usize) -> usize {
    let mut deep = 0u32;
    for (end, sign) in code.iter().enumerate().skip(at) {
        match sign {
            '{' | '(' | '[' => deep += 1,
            '}' | ')' | ']' => {
                deep = deep.saturating_sub(1);
                if deep == 0 && *sign == '}' {
                    return end + 1;
                }
            }
            ';' if deep == 0 => return end + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::{layers, without};

    #[test]
    fn literals_and_comments_are_no_code() {
        for (text, code) in [
            ("let a = '\"'; unsafe {} // \"", "let a = ' '; unsafe {}     "),
            ("/* // */ unsafe", "         unsafe"),
            ("/* /* */ a */ b", "              b"),
            ("f(\"// \\\" x\") g", "f(\"         ) g"),
            ("r#\"a\"b\"# c br\"\\\" d", "           c b    d"),
            ("let x: &'static str = y;", "let x: &'static str = y;"),
            ("'\\'' b", "'    b"),
        ] {
            let found = layers(text).code;
            let squeezed = |text: &str| text.replace(['"', '\'', 'r', '#', ' '], "");
            assert_eq!(squeezed(&found), squeezed(code), "{text}");
            assert_eq!(found.chars().count(), text.chars().count(), "{text}");
        }
        assert_eq!(layers("a // SAFETY: b\nc").comments.trim(), "// SAFETY: b");
        assert_eq!(layers("p(\"SAFETY: b\")").comments.trim(), "");
    }

    #[test]
    fn items_are_left_out_whole() {
        let text = "#[cfg(test)]\nmod tests { fn a() { b() } }\nfn c() {}\n#[cfg(test)]\nmod d;\nuse e;";
        let (left, modules) = without(text, &["#[cfg(test)]"]);
        assert_eq!(modules.last().map(String::as_str), Some("d"));
        assert_eq!(left.split_whitespace().collect::<Vec<_>>(), ["fn", "c()", "{}", "use", "e;"]);
    }
}
