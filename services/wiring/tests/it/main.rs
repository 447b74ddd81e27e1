//! Tests of the code that services share. Some of these tests use real servers.

mod call_settings;
mod documented;
mod key;
mod organisations;
mod registration;
mod replica;
