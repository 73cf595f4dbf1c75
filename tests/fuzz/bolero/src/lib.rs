//! Knows: nothing but its tests, which run the fuzz targets under a fuzzer.
//! Does not know: what a target does with its bytes.
