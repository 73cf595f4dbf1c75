//! The rules, scene by scene: given stacks and a rule set, when these lines are played, then that follows.

mod betting;
mod casino;
mod laws;
mod scene;
mod setups;
mod views;
