//! The rules, scene by scene: given stacks and a rule set, when these lines are played, then that follows.

#[cfg(test)]
mod betting;
#[cfg(test)]
mod casino;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod notation;
#[cfg(test)]
mod pack;
#[cfg(test)]
mod reveal;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod setups;
#[cfg(test)]
mod views;
