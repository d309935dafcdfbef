//! Reading the members that matter out of JSON text, and writing objects into one buffer.
//!
//! No message is turned into a tree: values stay the text that they came as ([`RawValue`]).

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Deepest nesting of arrays and objects that a message may have.
pub(crate) const MAX_DEPTH: usize = 128;

/// The named members of the object `text`; where a key is given twice, the last one counts.
pub(crate) fn members<'a, const N: usize>(
    text: &'a str,
    names: &[&str; N],
) -> Result<[Option<&'a RawValue>; N], serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = deserializer.deserialize_map(Members(names))?;
    deserializer.end()?;
    Ok(found)
}

/// The named members of an object, or `None` for a value of another kind.
pub(crate) struct Members<'n, const N: usize>(pub(crate) &'n [&'n str; N]);

impl<'de, const N: usize> serde::de::DeserializeSeed<'de> for Members<'_, N> {
    type Value = Option<[Option<&'de RawValue>; N]>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(IfObject(self))
    }
}

/// Passes over anything but an object.
struct IfObject<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for IfObject<V> {
    type Value = Option<V::Value>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        self.0.visit_map(map).map(Some)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

impl<'de, const N: usize> Visitor<'de> for Members<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        while let Some(index) = map.next_key_seed(Name(self.0))? {
            match index {
                Some(index) => found[index] = Some(map.next_value()?),
                None => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(found)
    }
}

/// Reads a key as its place in the list of names.
pub(crate) struct Name<'n>(pub(crate) &'n [&'n str]);

impl<'de> serde::de::DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| *name == key))
    }
}

/// The string that `value` holds, or what it is instead.
pub(crate) fn string(value: &RawValue) -> Result<Cow<'_, str>, serde_json::Error> {
    let inner = value.get().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inner.ok_or_else(|| serde_json::Error::custom("not a string"))? {
        escaped if escaped.contains('\\') => serde_json::from_str(value.get()).map(Cow::Owned),
        plain => Ok(Cow::Borrowed(plain)),
    }
}

pub(crate) fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

pub(crate) fn is_string(value: &RawValue) -> bool {
    value.get().starts_with('"')
}

pub(crate) fn is_number(value: &RawValue) -> bool {
    value.get().starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

/// Whether `text` nests arrays and objects deeper than [`MAX_DEPTH`]. `serde_json` skips values that nobody
/// reads without a limit, and the one who reads them later, recursively, would meet the bottom of its stack.
pub(crate) fn too_deep(text: &str) -> bool {
    // A count of all openings is quick, and rules out nearly every message.
    // Each piece fits a count of one byte, which lets the compiler count 16 at a time.
    let openings = |piece: &[u8]| piece.iter().map(|byte| u8::from(byte | 0x20 == b'{')).sum::<u8>();
    if text.as_bytes().chunks(255).map(|piece| usize::from(openings(piece))).sum::<usize>() <= MAX_DEPTH {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// `text` as a JSON string, quotes included.
pub fn escape(text: &str) -> String {
    let mut buffer = Vec::with_capacity(text.len() + 2);
    write_string(&mut buffer, text);
    into_text(buffer)
}

/// Writes a JSON string. Long stretches without escapes, which most texts are, are copied whole: `serde_json`
/// looks at each byte on its own.
pub(crate) fn write_string(buffer: &mut Vec<u8>, text: &str) {
    let needs_escape = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    buffer.reserve(text.len() + 2);
    buffer.push(b'"');
    for piece in text.as_bytes().chunks(64) {
        if piece.iter().fold(false, |any, byte| any | needs_escape(*byte)) {
            for byte in piece {
                match byte {
                    b'"' | b'\\' => buffer.extend([b'\\', *byte]),
                    b'\n' => buffer.extend(b"\\n"),
                    b'\r' => buffer.extend(b"\\r"),
                    b'\t' => buffer.extend(b"\\t"),
                    0..0x20 => buffer.extend(format!("\\u{byte:04x}").bytes()),
                    _ => buffer.push(*byte),
                }
            }
        } else {
            buffer.extend_from_slice(piece);
        }
    }
    buffer.push(b'"');
}

/// A buffer that only JSON was written to, as text.
pub(crate) fn into_text(buffer: Vec<u8>) -> String {
    String::from_utf8(buffer).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Writes a value whose `Serialize` cannot fail: strings, numbers, JSON trees and plain structs of those.
pub(crate) fn write_value<T: Serialize + ?Sized>(buffer: &mut Vec<u8>, value: &T) {
    let before = buffer.len();
    if serde_json::to_writer(&mut *buffer, value).is_err() {
        buffer.truncate(before);
        buffer.extend_from_slice(b"null");
    }
}

/// Writes one JSON object, member by member.
pub(crate) struct ObjectWriter<'b> {
    buffer: &'b mut Vec<u8>,
    empty: bool,
}

impl<'b> ObjectWriter<'b> {
    pub(crate) fn begin(buffer: &'b mut Vec<u8>) -> Self {
        buffer.push(b'{');
        Self { buffer, empty: true }
    }

    /// Writes the key, which must need no escape, and gives the buffer for the value.
    pub(crate) fn key(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.empty) {
            self.buffer.push(b',');
        }
        self.buffer.push(b'"');
        self.buffer.extend_from_slice(name.as_bytes());
        self.buffer.extend_from_slice(b"\":");
        self.buffer
    }

    /// A member whose value is JSON text already.
    pub(crate) fn raw(&mut self, name: &str, json: &str) {
        self.key(name).extend_from_slice(json.as_bytes());
    }

    pub(crate) fn value<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        write_value(self.key(name), value);
    }

    pub(crate) fn object(&mut self, name: &str, write: impl FnOnce(&mut ObjectWriter)) {
        let mut inner = ObjectWriter::begin(self.key(name));
        write(&mut inner);
        inner.end();
    }

    pub(crate) fn end(self) {
        self.buffer.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_two_equal_keys_counts() {
        let [a, b] = members(r#"{"a":1,"x":[{}],"a":"two"}"#, &["a", "b"]).unwrap();
        assert_eq!(a.unwrap().get(), r#""two""#);
        assert!(b.is_none());
    }

    #[test]
    fn an_escaped_key_is_the_key_that_it_means() {
        let [method] = members(r#"{"m\u0065thod":1}"#, &["method"]).unwrap();
        assert_eq!(method.unwrap().get(), "1");
    }

    #[test]
    fn numbers_keep_their_digits() {
        let [n] = members(r#"{"n":12345678901234567890.10}"#, &["n"]).unwrap();
        assert_eq!(n.unwrap().get(), "12345678901234567890.10");
    }

    #[test]
    fn brackets_in_strings_are_no_depth() {
        let text = format!(r#"{{"a":"{}","b":"\"[{{"}}"#, "[".repeat(500));
        assert!(!too_deep(&text));
        assert!(!too_deep(&format!("{}{}", "[".repeat(128), "]".repeat(128))));
        assert!(too_deep(&format!("{}{}", "[".repeat(129), "]".repeat(129))));
        assert!(!too_deep(&format!("[{}]", vec!["[]"; 400].join(","))));
    }

    #[test]
    fn a_written_string_reads_back_the_same() {
        let controls: String = (0..0x20).map(char::from).collect();
        for text in
            ["", "\"", "\\", &controls, &"ü\u{2028}\u{7f}😀".repeat(50), &format!("{}\"\n", "x".repeat(63))]
        {
            assert_eq!(serde_json::from_str::<String>(&escape(text)).unwrap(), *text);
        }
    }
}
