//! The engine's decisions over many loops, in a world made of nothing but a seed.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]

mod outside;
mod world;
