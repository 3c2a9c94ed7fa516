/**
 * The figures of a volume for Prometheus: {@link org.opendedup.sar.sdfs.metrics.PrometheusText} makes the text from the
 * records of statistics, {@link org.opendedup.sar.sdfs.metrics.MetricsServer} serves it over HTTP.
 */
@NullMarked
package org.opendedup.sar.sdfs.metrics;

import org.jspecify.annotations.NullMarked;
