// Package tuning decides which algorithm and which segment an operation uses.
//
// A Model says what messages cost. It comes from a profile that 'thunder tune' wrote, or
// is measured with the first operation of a group (Measure); without either, rules of
// thumb decide, which are the same in every run and hence give the same bits. All ranks
// of a group use the same model: see Agree.
package tuning
