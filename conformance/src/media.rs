//! The smallest picture and sound that viewers and players take.

/// One red pixel.
pub(crate) const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, // signature
    0, 0, 0, 13, b'I', b'H', b'D', b'R', // 1 x 1 pixels, 8 bits of red, green and blue each
    0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, //
    0, 0, 0, 12, b'I', b'D', b'A', b'T', // the pixel, deflated
    0x08, 0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0x18, 0xdd, 0x8d, 0xb0, //
    0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

/// A millisecond of silence: 8 samples of 8 bits, 8,000 of them a second.
pub(crate) const WAV: &[u8] = &[
    b'R', b'I', b'F', b'F', 44, 0, 0, 0, b'W', b'A', b'V', b'E', // 44 bytes follow
    b'f', b'm', b't', b' ', 16, 0, 0, 0, 1, 0, 1, 0, // PCM, one channel
    0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0, // 8,000 samples and bytes a second, 8 bits a sample
    b'd', b'a', b't', b'a', 8, 0, 0, 0, 128, 128, 128, 128, 128, 128, 128, 128,
];
