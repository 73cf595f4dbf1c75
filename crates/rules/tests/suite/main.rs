//! The rules, scene by scene: given stacks and a rule set, certain lines have certain results.

#[cfg(test)]
mod betting;
#[cfg(test)]
mod casino;
#[cfg(test)]
mod coruscant;
#[cfg(test)]
mod eleven;
#[cfg(test)]
mod force;
#[cfg(test)]
mod force_layers;
#[cfg(test)]
mod force_scoring;
#[cfg(test)]
mod kessel;
#[cfg(test)]
mod kessel_disrupt;
#[cfg(test)]
mod kessel_laws;
#[cfg(test)]
mod kessel_leaving;
#[cfg(test)]
mod kessel_reveal;
#[cfg(test)]
mod kessel_tokens;
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
mod small_packs;
#[cfg(test)]
mod spike;
#[cfg(test)]
mod spike_reveal;
#[cfg(test)]
mod swg;
#[cfg(test)]
mod swg_reveal;
#[cfg(test)]
mod views;
