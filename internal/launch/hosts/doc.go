// Package hosts determines where the ranks of a job run: it parses lists of hosts,
// converts hostfiles, and places ranks on machines.
//
// A list is the value of --hosts, such as "a,b:2,user@c": ssh names, each with its
// number of ranks. Hostfiles are read by package rendezvous; entries without "ssh" are
// reached by their name or address.
package hosts
