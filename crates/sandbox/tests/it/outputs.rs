//! What is kept of a program with a lot of output: the beginning, the end, and the exact number of
//! bytes between them.

use std::fs;

use sandbox::{ExitCause, ExitRecord, Output, Stream, output};

use crate::scene::{Scene, kill_nine, wait_for};

fn stdout(scene: &Scene) -> Output {
    output(&scene.run_dir(), Stream::Stdout).unwrap()
}

/// How many bytes the files of one stream take on disk.
fn disk_bytes(scene: &Scene, stream: &str) -> u64 {
    let entries = fs::read_dir(scene.run_dir()).unwrap().map(Result::unwrap);
    let ours = entries.filter(|entry| entry.file_name().to_str().unwrap().starts_with(stream));
    // A piece may be removed after it was listed.
    ours.map(|entry| entry.metadata().map_or(0, |metadata| metadata.len()))
        .sum()
}

fn is_counted(exit: &ExitRecord, scene: &Scene, length: u64) {
    assert_eq!(exit.stdout_bytes + exit.stdout_dropped, length);
    assert_eq!(exit.stdout_bytes, disk_bytes(scene, "stdout"));
    let kept: usize = stdout(scene)
        .pieces
        .iter()
        .map(|piece| piece.bytes.len())
        .sum();
    assert_eq!(exit.stdout_bytes, kept as u64);
}

/// Every line has seven bytes and its own number, so that each kept byte shows where it belongs.
const LINES: &str = "seq -f %06.0f 0";

fn expected(from: u64, length: usize) -> Vec<u8> {
    let first = from / 7;
    let text: String = (first..first + length as u64 / 7 + 2)
        .map(|number| format!("{number:06}\n"))
        .collect();
    let skip = usize::try_from(from % 7).unwrap();
    text.as_bytes()[skip..skip + length].to_vec()
}

#[test]
fn beginning_and_end_are_kept_and_the_rest_is_counted() {
    for (bytes_max, last, whole) in [
        (8_000, 999, true),
        (8_000, 1_999, false),
        (8_000, 199_999, false),
        (3_000, 65_432, false),
        (5, 99, false),
    ] {
        let scene = Scene::script(&format!("{LINES} {last}; echo done > end"));
        let scene = scene
            .with(|spec| spec.output_bytes_max = bytes_max)
            .launch();
        let exit = scene.exit();
        assert_eq!(
            (exit.cause.clone(), exit.exit_code),
            (ExitCause::Exited, Some(0))
        );
        is_counted(&exit, &scene, (last + 1) * 7);
        assert!(exit.stdout_bytes <= bytes_max, "{exit:?}");
        let found = stdout(&scene);
        for piece in &found.pieces {
            assert_eq!(
                piece.bytes,
                expected(piece.from, piece.bytes.len()),
                "{last}: from {}",
                piece.from
            );
        }
        assert_eq!(
            (found.pieces[0].from, found.end()),
            (0, (last + 1) * 7),
            "{last}"
        );
        assert_eq!(
            found.pieces.len(),
            if whole { 1 } else { 2 },
            "{last}: one gap at most"
        );
        assert!(found.pieces[0].bytes.len() as u64 >= bytes_max / 4 || whole);
        assert!(
            found.tail(usize::MAX).len() as u64 >= bytes_max / 8 * 3 || whole,
            "{bytes_max}, {last}"
        );
        assert_eq!(scene.lines("end", 1), ["done"]);
    }
}

/// The files never exceed the bound, not even while the program writes.
#[test]
fn the_bound_holds_at_every_moment() {
    let scene = Scene::script("head -c 20000000 /dev/zero; until [ -e go ]; do sleep 0.02; done");
    let scene = scene.with(|spec| spec.output_bytes_max = 400_000).launch();
    let mut most = 0;
    wait_for("the last byte", || {
        most = most.max(disk_bytes(&scene, "stdout"));
        // Reading may fail while the keeper removes a piece; the next poll tries again.
        (output(&scene.run_dir(), Stream::Stdout).is_ok_and(|found| found.end() == 20_000_000))
            .then_some(())
    });
    fs::write(scene.work("go"), "").unwrap();
    let exit = scene.exit();
    is_counted(&exit, &scene, 20_000_000);
    assert!((300_000..=400_000).contains(&most), "{most}");
}

/// Whenever the keeper dies, the files on disk show the offset of every kept byte.
#[test]
fn a_killed_keeper_leaves_pieces_that_can_be_read() {
    for lines_before in [10, 2_000, 20_000] {
        let script = format!("{LINES} {lines_before}; echo > said; exec sleep 300");
        let scene = Scene::script(&script)
            .with(|spec| spec.output_bytes_max = 8_000)
            .launch();
        scene.lines("said", 1);
        let length = (lines_before + 1) * 7;
        wait_for("the last byte", || {
            (stdout(&scene).end() == length).then_some(())
        });
        kill_nine(scene.keeper().pid);
        let found = stdout(&scene);
        assert_eq!(found.end(), length);
        for piece in &found.pieces {
            assert_eq!(
                piece.bytes,
                expected(piece.from, piece.bytes.len()),
                "{lines_before}"
            );
        }
    }
}
