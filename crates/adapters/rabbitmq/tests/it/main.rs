//! The adapter against a real RabbitMQ. Each test has a vhost of its own; those that hurt the server have a server.

mod conformance;
mod consuming;
mod faults;
mod ownership;
mod publishing;
mod space;
mod supervisor;
mod topology;
