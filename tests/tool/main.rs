//! The command and the library as their users meet them, and what holds for the whole repository.

mod assembly;
mod book;
mod build;
mod build_faults;
mod builder;
mod cli;
mod cmake;
mod deps;
mod explain;
mod extremes;
mod files;
mod folder;
mod forms;
mod fuzz;
mod gcn;
mod layers;
mod limits;
mod loaders;
mod machine;
mod machines;
mod ninja;
mod profiles;
mod rendered;
mod run;
mod snapshot;
mod warnings;
