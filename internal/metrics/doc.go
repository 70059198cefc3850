// Package metrics counts what a rank does and serves it in the text form that
// Prometheus reads.
//
// A Histogram is cheap enough for every operation: two additions. Encoder
// writes one scrape; Serve answers scrapes at an address, which is on loopback
// unless somebody says otherwise.
package metrics
