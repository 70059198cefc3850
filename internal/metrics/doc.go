// Package metrics counts what a rank does and serves it to Prometheus.
//
// A Histogram is cheap enough for every operation: two additions. Handler answers
// scrapes, by way of the client library of Prometheus, with what was counted; Serve
// listens at an address, which is on loopback unless somebody says otherwise.
package metrics
