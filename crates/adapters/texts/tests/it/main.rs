//! Tests of the text index: the contract of the port, and the number and size of its layers.

mod conformance;
mod layers;
