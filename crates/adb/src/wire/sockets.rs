//! The device's `/proc/net/unix`.

/// The flags of a socket that listens (`__SO_ACCEPTCON`).
const LISTENING: &str = "00010000";

/// The names of the abstract sockets that something listens on.
pub(crate) fn abstract_sockets(table: &str) -> Vec<String> {
    table.lines().filter_map(listening).map(str::to_owned).collect()
}

/// Reads `NUM: REFCOUNT PROTOCOL FLAGS TYPE ST INODE [PATH]`, where the path may have spaces, and begins with
/// `@` when it is an abstract name.
fn listening(line: &str) -> Option<&str> {
    let mut rest = line;
    for column in 0..7 {
        let (word, after) = rest.trim_start().split_once(' ')?;
        if column == 3 && word != LISTENING {
            return None;
        }
        rest = after;
    }
    rest.trim_end_matches('\r').strip_prefix('@').filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listening_abstract_sockets_are_named() {
        let table = "\
Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 17420 @jumpseat/com.example.app
0000000000000000: 00000003 00000000 00000000 0001 03 17421 @jumpseat/com.example.app
0000000000000000: 00000002 00000000 00010000 0001 01   812 /dev/socket/zygote
0000000000000000: 00000002 00000000 00010000 0005 01 33333 @a name with spaces\r
0000000000000000: 00000003 00000000 00000000 0001 03 25555
0000000000000000: 00000002 00000000 00010000 0001 01 17429
";
        assert_eq!(abstract_sockets(table), ["jumpseat/com.example.app", "a name with spaces"]);
        assert!(abstract_sockets("cat: /proc/net/unix: Permission denied\n").is_empty());
    }
}
