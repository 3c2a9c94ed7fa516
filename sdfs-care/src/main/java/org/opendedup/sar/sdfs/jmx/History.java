package org.opendedup.sar.sdfs.jmx;

import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.management.AttributeNotFoundException;
import javax.management.MBeanAttributeInfo;
import org.opendedup.sar.common.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The course of some figures over a day, in memory: a sample a minute, in arrays of a fixed length. It begins with the
 * mount. Safe for use by many threads.
 */
final class History implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(History.class);
    static final Duration PERIOD = Duration.ofMinutes(1);
    static final int SAMPLES_MAX = (int) (Duration.ofDays(1).dividedBy(PERIOD));

    private final List<Series> series;
    private final Clock clock;
    private final ScheduledExecutorService timer =
            Executors.newSingleThreadScheduledExecutor(Threads.named("sdfs-history"));

    /** Number of samples taken so far. Guarded by this. */
    private long taken;

    /** Times of the samples, in milliseconds since 1970. Guarded by this. */
    private final double[] times = new double[SAMPLES_MAX];

    /** An attribute of a bean whose value is a number; its samples are a ring. A double has 2^53 exactly: 8 PiB. */
    static final class Series {
        private final RecordBean bean;
        private final String attribute;
        private final double[] ring = new double[SAMPLES_MAX];

        Series(RecordBean bean, String attribute) {
            this.bean = bean;
            this.attribute = attribute;
        }

        private double now() throws AttributeNotFoundException {
            return bean.getAttribute(attribute) instanceof Number number ? number.doubleValue() : 0;
        }
    }

    History(List<Series> series, Clock clock) {
        this.series = series;
        this.clock = clock;
    }

    /** Begins to take samples, the first one now. */
    void start() {
        var unused =
                timer.scheduleAtFixedRate(Threads.lasting(this::tick), 0, PERIOD.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void tick() {
        try {
            sample();
        } catch (AttributeNotFoundException | RuntimeException e) {
            // The next one may succeed; an exception would end the timer.
            LOG.debug("no sample of the figures could be taken", e);
        }
    }

    /** Takes a sample: of all series or of none. */
    void sample() throws AttributeNotFoundException {
        double[] values = new double[series.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = series.get(i).now();
        }
        synchronized (this) {
            int at = (int) (taken % SAMPLES_MAX);
            for (int i = 0; i < values.length; i++) {
                series.get(i).ring[at] = values[i];
            }
            times[at] = clock.millis();
            taken++;
        }
    }

    /** Returns the bean: each series is an attribute with the name, the text and the unit of its figure. */
    RecordBean bean() {
        var bean = new RecordBean("The course of some figures over the last day, a sample a minute, the oldest first")
                .attribute(long.class, "PeriodSeconds", "Time from a sample to the next", "seconds", PERIOD::toSeconds)
                .attribute(
                        long[].class,
                        "Times",
                        "Times of the samples, since 1970 in UTC",
                        "milliseconds",
                        () -> wholes(times));
        for (Series one : series) {
            MBeanAttributeInfo info = one.bean.attributeInfo(one.attribute);
            String text = RecordBean.plainText(info);
            String unit = String.valueOf(info.getDescriptor().getFieldValue("units"));
            if (info.getType().equals("double")) {
                bean.attribute(double[].class, one.attribute, text, unit, () -> samples(one.ring));
            } else {
                bean.attribute(long[].class, one.attribute, text, unit, () -> wholes(one.ring));
            }
        }
        return bean;
    }

    private long[] wholes(double[] ring) {
        return Arrays.stream(samples(ring)).mapToLong(value -> (long) value).toArray();
    }

    private synchronized double[] samples(double[] ring) {
        int count = (int) Math.min(taken, SAMPLES_MAX);
        double[] samples = new double[count];
        for (int i = 0; i < count; i++) {
            samples[i] = ring[(int) ((taken - count + i) % SAMPLES_MAX)];
        }
        return samples;
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
