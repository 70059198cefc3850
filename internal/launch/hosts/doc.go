// Package hosts says where the ranks of a job go: it reads the lists that
// users write, takes over hostfiles, and places ranks on machines.
//
// A list is what --hosts takes, "a,b:2,user@c": names as ssh knows them, each
// with the number of ranks it gets. A hostfile is what package rendezvous reads;
// entries without "ssh" are reached by their name or address.
package hosts
