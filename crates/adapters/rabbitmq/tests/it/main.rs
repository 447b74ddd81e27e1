//! Tests the adapter against a real RabbitMQ. Each test has its own vhost. Tests that damage the server have
//! their own server.

mod conformance;
mod consuming;
mod faults;
mod ownership;
mod publishing;
mod space;
mod supervisor;
mod topology;
