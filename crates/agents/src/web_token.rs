//! JSON Web Tokens, as far as anybody but their maker can read them: when one ends.

/// When a web token expires, in seconds since 1970.
pub fn web_token_ends(token: &[u8]) -> Option<i64> {
    let claims = token.split(|byte| *byte == b'.').nth(1)?;
    let claims: serde_json::Value = serde_json::from_slice(&decoded(claims)?).ok()?;
    claims["exp"].as_i64()
}

/// Base64 as web tokens use it, without padding.
fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut bits, mut n_bits) = (0_u32, 0);
    for byte in text {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(six);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            out.push((bits >> n_bits).to_le_bytes()[0]);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_web_token_says_when_it_expires() {
        for (token, expected) in [
            (
                &b"eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjQxMDI0NDQ4MDB9.x"[..],
                Some(4_102_444_800),
            ),
            (b"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x", None),
            (b"eyJ.e!J.x", None),
            (b"one", None),
        ] {
            assert_eq!(web_token_ends(token), expected);
        }
    }
}
