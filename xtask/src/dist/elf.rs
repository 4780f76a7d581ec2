//! Whether a program needs a loader, read from its headers: one that does not runs on every Linux
//! of its processor, whatever libraries are there.

use anyhow::{Result, ensure};

/// The header of a segment that names a loader.
const PT_INTERP: u32 = 3;

/// Tells whether a 64-bit little-endian ELF program is static.
pub(super) fn is_static(program: &[u8]) -> Result<bool> {
    let is_elf = program.starts_with(&[0x7f, b'E', b'L', b'F', 2, 1]);
    ensure!(is_elf, "this is no 64-bit little-endian ELF program");
    let table = usize::try_from(number(program, 0x20, 8))?;
    let entry_bytes = usize::try_from(number(program, 0x36, 2))?;
    let n_entries = usize::try_from(number(program, 0x38, 2))?;
    ensure!(n_entries > 0, "this program has no segments");
    let kinds = (0..n_entries).map(|index| number(program, table + index * entry_bytes, 4));
    Ok(kinds.into_iter().all(|kind| kind != u64::from(PT_INTERP)))
}

/// What lies behind the end is zero.
fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    let found = bytes.iter().skip(at).take(width).rev();
    found.fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with segments of these kinds.
    fn elf(kinds: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 0x40 + kinds.len() * 0x38];
        bytes[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
        bytes[0x20] = 0x40;
        bytes[0x36] = 0x38;
        bytes[0x38] = u8::try_from(kinds.len()).unwrap();
        for (index, kind) in kinds.iter().enumerate() {
            bytes[0x40 + index * 0x38] = *kind;
        }
        bytes
    }

    #[test]
    fn a_program_with_a_loader_is_not_static() {
        assert!(is_static(&elf(&[6, 1, 2])).unwrap());
        assert!(!is_static(&elf(&[6, 3, 1])).unwrap());
        assert!(is_static(b"#!/bin/sh\n").is_err());
        assert!(is_static(&elf(&[])).is_err());
    }

    #[test]
    fn a_program_of_this_system_is_read() {
        // Tests are linked dynamically, as the toolchain does unless told otherwise.
        let ours = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(
            is_static(&ours).unwrap(),
            cfg!(target_feature = "crt-static")
        );
    }
}
