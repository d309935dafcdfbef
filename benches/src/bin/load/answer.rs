//! Checks answers to `tools/call`: the id is the request's and the text is the one that was sent.

use serde::Deserialize;

/// All ids have ten digits, so that a request differs from the next one in these bytes only.
pub(crate) const FIRST_ID: u64 = 1_000_000_000;
pub(crate) const ID_DIGITS: usize = 10;

#[derive(Deserialize)]
struct Answer<'a> {
    id: u64,
    #[serde(borrow)]
    result: Outcome<'a>,
}

#[derive(Deserialize)]
struct Outcome<'a> {
    #[serde(borrow)]
    content: Vec<Content<'a>>,
}

#[derive(Deserialize)]
struct Content<'a> {
    text: &'a str,
}

/// Parses the first answer; later ones must have the same bytes around the id, which is as strict and cheap.
pub(crate) struct Answers {
    text: String,
    known: Option<Known>,
}

/// The bytes of a right answer around the id.
struct Known {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Answers {
    /// Answers to calls that send this text, in which no ten digits stand together.
    pub(crate) fn new(text: String) -> Self {
        Self { text, known: None }
    }

    pub(crate) fn check(&mut self, body: &[u8], id: u64) -> Result<(), String> {
        let digits = id.to_string();
        if let Some(Known { before, after }) = &self.known
            && let Some(rest) = body.strip_prefix(before.as_slice())
            && rest.strip_prefix(digits.as_bytes()) == Some(after)
        {
            return Ok(());
        }
        let shown = || String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned();
        let answer: Answer =
            serde_json::from_slice(body).map_err(|error| format!("not an answer ({error}): {}", shown()))?;
        if answer.id != id {
            return Err(format!("expected id {id}: {}", shown()));
        }
        if !matches!(answer.result.content.as_slice(), [content] if content.text == self.text) {
            return Err(format!("not the text that was sent: {}", shown()));
        }
        let place = body.windows(ID_DIGITS).position(|window| window == digits.as_bytes());
        self.known =
            place.map(|at| Known { before: body[..at].to_vec(), after: body[at + ID_DIGITS..].to_vec() });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(id: u64, text: &str) -> Vec<u8> {
        let text = format!(r#"{{"id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#);
        text.into_bytes()
    }

    #[test]
    fn a_wrong_id_or_text_is_found_before_and_after_a_right_answer() {
        let mut answers = Answers::new("abc".to_owned());
        for id in FIRST_ID..FIRST_ID + 3 {
            assert!(answers.check(&answer(id + 1, "abc"), id).is_err());
            assert!(answers.check(&answer(id, "abd"), id).is_err());
            assert_eq!(answers.check(&answer(id, "abc"), id), Ok(()));
        }
    }
}
