package org.opendedup.sar.sim.sar;

import java.util.ArrayList;
import java.util.List;

/**
 * Counts the requests and transfers in equal parts of the replayed time, by the arrival of requests. For one thread.
 */
final class Series {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_MINUTE = 60e9;

    private final long bucketNanos;
    private final List<Bucket> buckets = new ArrayList<>();

    private static final class Bucket {
        long reads;
        long readNanos;
        long writes;
        long writeNanos;
        long arrayTransfers;
        long ssdReads;
        long readBytes;
        long ssdReadBytes;
    }

    /**
     * A part of the time.
     *
     * @param minutes time from the start of the replay to the start of the part, in minutes
     * @param arrayRequests requests to the array, before it splits them over its disks
     * @param ssdShare share of the bytes read
     */
    record Point(
            double minutes,
            long reads,
            double meanReadMs,
            long writes,
            double meanWriteMs,
            long arrayRequests,
            long ssdReads,
            double ssdShare) {}

    Series(long bucketNanos) {
        this.bucketNanos = bucketNanos;
    }

    void planned(long arrivalNanos, RequestPlan plan) {
        Bucket bucket = bucket(arrivalNanos);
        bucket.arrayTransfers += plan.arrayTransfers();
        bucket.ssdReads += plan.ssdReads();
        bucket.readBytes += plan.ssdReadBytes() + plan.arrayReadBytes();
        bucket.ssdReadBytes += plan.ssdReadBytes();
    }

    void done(long arrivalNanos, boolean isWrite, long responseNanos) {
        Bucket bucket = bucket(arrivalNanos);
        if (isWrite) {
            bucket.writes++;
            bucket.writeNanos += responseNanos;
        } else {
            bucket.reads++;
            bucket.readNanos += responseNanos;
        }
    }

    private Bucket bucket(long arrivalNanos) {
        int number = (int) (arrivalNanos / bucketNanos);
        while (buckets.size() <= number) {
            buckets.add(new Bucket());
        }
        return buckets.get(number);
    }

    List<Point> points() {
        List<Point> points = new ArrayList<>();
        for (int i = 0; i < buckets.size(); i++) {
            Bucket bucket = buckets.get(i);
            points.add(new Point(
                    i * bucketNanos / NANOS_PER_MINUTE,
                    bucket.reads,
                    mean(bucket.readNanos, bucket.reads),
                    bucket.writes,
                    mean(bucket.writeNanos, bucket.writes),
                    bucket.arrayTransfers,
                    bucket.ssdReads,
                    bucket.readBytes == 0 ? 0 : (double) bucket.ssdReadBytes / bucket.readBytes));
        }
        return points;
    }

    private static double mean(long nanos, long requests) {
        return requests == 0 ? 0 : nanos / NANOS_PER_MILLI / requests;
    }
}
