// Package env is the table of the environment variables that the library, the program and
// their tests read, and the place that parses them. All their names begin with Prefix.
//
// A reader of variables asks a Reader by name: it parses the value by the variable's kind
// and returns an *Error that names the variable, its value and what would be right. Names
// finds variables that look like ours but are not in the table, which are most often
// misspelt. A variable that is set to the empty string counts as not set.
//
// 'thunder env' prints the table. A test looks through the source tree for names that are
// missing from it.
package env
