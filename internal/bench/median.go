package main

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// median returns the median of the values. For an even number, it is the mean of the middle two. It returns NaN for no
// values.
func median[T cmp.Ordered](values []T, as func(T) float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return as(sorted[mid])
	}
	return (as(sorted[mid-1]) + as(sorted[mid])) / 2
}

// percentile returns percentile p (0 to 100) of the values, by nearest rank.
func percentile[T cmp.Ordered](values []T, p float64, as func(T) float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return as(sorted[min(max(rank, 1), len(sorted))-1])
}

func same(v float64) float64 { return v }

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
