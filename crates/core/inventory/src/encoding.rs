//! Converts bytes to text. UTF-8 stays unchanged. UTF-16 with a byte-order mark and legacy encodings are
//! converted.
//!
//! Line ends stay unchanged, so that lines and positions agree with the file. A byte-order mark is removed.

use cairn_domain::Reason;
use chardetng::EncodingDetector;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::binary;

const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of a file. The error is the reason to skip the file: `Binary` or `NotUtf8`.
pub(crate) fn to_text(mut bytes: Vec<u8>) -> Result<String, Reason> {
    if binary::has_magic(&bytes) {
        return Err(Reason::Binary);
    }
    if let Some(encoding) = utf_16_of(&bytes) {
        return convert(encoding, &bytes[2..]);
    }
    if binary::has_nul(&bytes) {
        return Err(Reason::Binary);
    }
    if bytes.starts_with(UTF_8_MARK) {
        bytes.drain(..UTF_8_MARK.len());
    }
    String::from_utf8(bytes).or_else(|error| from_legacy(error.as_bytes()))
}

/// Recognises UTF-16 by its byte-order mark. UTF-32 is excluded: its byte-order mark begins with the bytes of
/// the UTF-16 mark, but a NUL character follows these bytes.
fn utf_16_of(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        _ => None,
    }
}

fn convert(encoding: &'static Encoding, bytes: &[u8]) -> Result<String, Reason> {
    let (text, malformed) = encoding.decode_without_bom_handling(bytes);
    if malformed {
        return Err(Reason::NotUtf8);
    }
    if binary::has_nul(text.as_bytes()) {
        return Err(Reason::Binary);
    }
    Ok(text.into_owned())
}

/// Converts bytes that are not UTF-8. A legacy encoding is used only if it decodes the bytes without
/// malformed sequences and without characters that do not occur in text. Damaged UTF-8 is not converted,
/// because a wrongly guessed encoding would change the text.
fn from_legacy(bytes: &[u8]) -> Result<String, Reason> {
    if binary::is_mostly_control(bytes) {
        return Err(Reason::Binary);
    }
    if is_damaged_utf_8(bytes) {
        return Err(Reason::NotUtf8);
    }
    let mut detector = EncodingDetector::new();
    detector.feed(bytes, true);
    let encoding = detector.guess(None, false);
    if encoding == UTF_8 {
        return Err(Reason::NotUtf8);
    }
    let text = convert(encoding, bytes)?;
    // Legacy encodings do not define some bytes. Decoders map these bytes to C1 control characters.
    let implausible = text.chars().any(|character| matches!(character, '\u{80}'..='\u{9f}' | '\u{fffd}'));
    if implausible { Err(Reason::NotUtf8) } else { Ok(text) }
}

/// Whether the bytes contain surrogates that are encoded as UTF-8, or contain more well-formed UTF-8
/// sequences than stray bytes.
fn is_damaged_utf_8(bytes: &[u8]) -> bool {
    if bytes.windows(3).any(|window| matches!(window, [0xed, 0xa0..=0xbf, 0x80..=0xbf])) {
        return true;
    }
    let (mut well_formed, mut stray) = (0usize, 0usize);
    for chunk in bytes.utf8_chunks() {
        well_formed += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        stray += chunk.invalid().len();
    }
    well_formed > stray
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: Result<&str, Reason>) {
        assert_eq!(to_text(bytes.to_vec()).as_deref().map_err(|reason| *reason), expect, "{bytes:x?}");
    }

    #[test]
    fn unicode_is_not_changed() {
        check(b"", Ok(""));
        check(b"fn main() {}\r\nx\n", Ok("fn main() {}\r\nx\n"));
        check("größe 漢字 🦀".as_bytes(), Ok("größe 漢字 🦀"));
        check(b"\xef\xbb\xbfusing System;\n", Ok("using System;\n"));
        check(b"\xef\xbb\xbf", Ok(""));
        check(b"form\x0cfeed and \x1b[0m", Ok("form\x0cfeed and \x1b[0m"));
    }

    #[test]
    fn utf_16_with_a_mark_is_converted() {
        check(b"\xff\xfea\0\n\0\xe4\0", Ok("a\nä"));
        check(b"\xfe\xff\0a\0\n\0\xe4", Ok("a\nä"));
        check(b"\xff\xfe", Ok(""));
        check(b"\xff\xfea\0\x00\xd8b\0", Err(Reason::NotUtf8));
        check(b"\xff\xfea", Err(Reason::NotUtf8));
        check(b"\xff\xfea\0\0\0b\0", Err(Reason::Binary));
        check(b"\xff\xfe\0\0a\0\0\0", Err(Reason::Binary));
    }

    #[test]
    fn legacy_encodings_are_detected() {
        let check = |label: &str, text: &str| {
            let encoding = Encoding::for_label(label.as_bytes()).expect("label");
            let (bytes, _, unmappable) = encoding.encode(text);
            assert!(!unmappable && std::str::from_utf8(&bytes).is_err());
            assert_eq!(to_text(bytes.into_owned()).as_deref(), Ok(text), "{label}");
        };
        check("windows-1252", "# Größe der Datei prüfen\nname = 'Müller'\n");
        check("windows-1252", "// cafe\u{301}".trim_end_matches('\u{301}').replace("cafe", "café").as_str());
        check("shift_jis", "// これは日本語のコメントです。設定を読み込む関数\nint main(void) { return 0; }\n");
        check("euc-jp", "# これは日本語のコメントです。設定を読み込む関数\nprint('テスト')\n");
        check("gbk", "// 这是一个用于读取配置文件的函数，请不要随意修改\nint main(void) { return 0; }\n");
        check("big5", "// 這是一個用於讀取設定檔的函數，請不要隨意修改\nint main(void) { return 0; }\n");
        check("euc-kr", "// 설정 파일을 읽는 함수입니다. 수정하지 마십시오\nint main(void) { return 0; }\n");
        check("windows-1251", "# Эта функция читает файл конфигурации и возвращает значение\nx = 1\n");
        check("koi8-r", "# Эта функция читает файл конфигурации и возвращает значение\nx = 1\n");
    }

    #[test]
    fn content_without_text_is_recognised() {
        check(b"a\0b", Err(Reason::Binary));
        check(b"\x89PNG\r\n\x1a\n", Err(Reason::Binary));
        check(b"%PDF-1.7\nplain", Err(Reason::Binary));
        check(b"\x7fELF\x02\x01\x01", Err(Reason::Binary));
        check(b"\x01\x02\x03\xff\x04\x05\x06", Err(Reason::Binary));
        check(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", Err(Reason::Binary));
        check(b"caf\xc3\xa9 na\xc3\xafve \xff", Err(Reason::NotUtf8));
        check(b"lone \xed\xa0\x80 surrogate", Err(Reason::NotUtf8));
        check(b"undefined \x81 \x8d \x8f", Err(Reason::NotUtf8));
    }
}
