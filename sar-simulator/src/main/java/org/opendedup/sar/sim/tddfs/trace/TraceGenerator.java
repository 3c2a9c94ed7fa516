package org.opendedup.sar.sim.tddfs.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import org.opendedup.sar.sim.block.Mixing;

/**
 * Makes traces like those of the TDDFS paper (section 5.1), from its published numbers. The traces themselves were not
 * published.
 *
 * <p><b>lab, syn.</b> A fifth of the files has four fifths of the accesses and of the bytes, as in the paper's
 * Syn_trace; of Lab_trace no distribution was published, so it gets the same one. Within both classes sizes are
 * exponentially distributed, and files are equally popular. (A Zipf law with that property would put 4.5 % of all bytes
 * and requests into one file.) Of a file's requests, four fifths lie within a fifth of the trace's duration after its
 * first one, four fifths of these within a fifth of that fifth, and so on; the others are later. Each request covers a
 * random range of the file, of up to a given share of it, all lengths equally likely. The paper has no lengths, but its
 * throughputs: up to 370 MB/s, and of the disk alone about half of it. A disk comes near that only if a request
 * transfers for much longer than a seek takes, so requests have megabytes.
 *
 * <p><b>var.</b> As varmail does, a read takes a whole file, and a write appends 16 KiB on average to a file that was
 * just read, or replaces a file by a new one. Files are chosen uniformly; sizes follow a gamma distribution of shape
 * 1.5.
 *
 * <p>The same seed gives the same requests. In lab and syn, another share of reads changes only which of them are
 * reads. No state.
 */
public final class TraceGenerator {
    /** Share of the files that have {@link #HOT_WEIGHT} of the accesses and bytes. */
    static final double HOT_FILES = 0.2;

    static final double HOT_WEIGHT = 0.8;
    /** Share of a file's requests that lie within {@link #BURST_DURATION} of the trace after the first one. */
    static final double BURST_REQUESTS = 0.8;

    static final double BURST_DURATION = 0.2;
    /**
     * A fifth of a duration has four fifths of the requests, a fifth of that fifth again four fifths of them, and so
     * on.
     */
    private static final double SELF_SIMILAR = StrictMath.log(BURST_DURATION) / StrictMath.log(BURST_REQUESTS);

    private static final long APPEND_BYTES = 16 << 10;
    private static final long LEAST_BYTES = 4 << 10;
    private static final int GAMMA_NORMALS = 3;

    private TraceGenerator() {}

    /**
     * What a trace is made with.
     *
     * @param scale factor for files, requests and bytes, above 0 and at most 1; sizes of single files stay the same
     * @param readShare share of reads among the requests, from 0 to 1
     * @param requestShare most that a request of lab and syn covers, as a share of its file, above 0 and at most 1
     * @param hasEvenTimes whether a file's requests in lab and syn are equally likely everywhere in their fifth of the
     *     trace
     * @param overwrites whether var overwrites the files that it else replaces
     */
    public record Mix(
            double scale, double readShare, double requestShare, long seed, boolean hasEvenTimes, boolean overwrites) {
        public Mix(double scale, double readShare, double requestShare, long seed) {
            this(scale, readShare, requestShare, seed, false, false);
        }

        public Mix {
            if (!(scale > 0 && scale <= 1)) {
                throw new IllegalArgumentException("the scale is " + scale + "; it must be above 0, up to 1");
            }
            if (!(readShare >= 0 && readShare <= 1)) {
                throw new IllegalArgumentException("the share of reads is " + readShare + "; it must be 0 to 1");
            }
            if (!(requestShare > 0 && requestShare <= 1)) {
                throw new IllegalArgumentException(
                        "a request's share of its file is " + requestShare + "; it must be above 0, up to 1");
            }
        }
    }

    /** Makes a trace. */
    public static FileTrace make(TraceShape shape, Mix mix) {
        int files = (int) Math.max(2, Math.round(shape.files() * mix.scale()));
        int requests = (int) Math.max(1, Math.round(shape.requests() * mix.scale()));
        long totalBytes = Math.max(files * LEAST_BYTES, Math.round(shape.totalBytes() * mix.scale()));
        SplittableRandom random = new SplittableRandom(Mixing.mix(mix.seed()));
        List<FileRequest> made = new ArrayList<>(requests);
        long[] sizes;
        if (shape == TraceShape.VAR) {
            sizes = new long[files];
            fill(sizes, 0, files, totalBytes, () -> gamma(random));
            addMail(made, sizes, requests, mix, random);
        } else {
            sizes = addTwoClasses(made, files, requests, totalBytes, mix, random);
        }
        return new FileTrace(shape.label(), true, sizes, made);
    }

    /** Fills a range with random sizes that have a sum of about {@code bytes}. */
    private static void fill(long[] sizes, int from, int to, double bytes, DoubleSupplier draw) {
        double[] drawn = new double[to - from];
        Arrays.setAll(drawn, i -> draw.getAsDouble());
        double factor = bytes / Arrays.stream(drawn).sum();
        for (int i = from; i < to; i++) {
            sizes[i] = Math.max(LEAST_BYTES, Math.round(drawn[i - from] * factor));
        }
    }

    // --- lab and syn ---

    private static long[] addTwoClasses(
            List<FileRequest> made, int files, int requests, double totalBytes, Mix mix, SplittableRandom random) {
        int hot = (int) Math.max(1, Math.round(files * HOT_FILES));
        long[] byClass = new long[files];
        fill(byClass, 0, hot, totalBytes * HOT_WEIGHT, () -> exponential(random));
        fill(byClass, hot, files, totalBytes * (1 - HOT_WEIGHT), () -> exponential(random));
        // Hot files are created among the others.
        int[] numbers = permutation(files, random);
        long[] sizes = new long[files];
        List<Timed> timed = new ArrayList<>();
        double reached = 0;
        for (int i = 0; i < files; i++) {
            sizes[numbers[i]] = byClass[i];
            // Rounds the running sum, so that the rounded numbers of requests have the right sum.
            long before = Math.round(reached);
            reached += requests * (i < hot ? HOT_WEIGHT / hot : (1 - HOT_WEIGHT) / (files - hot));
            addTimes(timed, numbers[i], (int) (Math.round(reached) - before), mix.hasEvenTimes(), random);
        }
        timed.sort(Comparator.comparingDouble(Timed::time));
        for (Timed each : timed) {
            long most = Math.max(1, Math.round(sizes[each.file()] * mix.requestShare()));
            long length = Math.max(1, random.nextLong(most + 1));
            long offset = random.nextLong(sizes[each.file()] - length + 1);
            boolean isRead = random.nextDouble() < mix.readShare();
            made.add(new FileRequest(
                    isRead ? FileRequest.Kind.READ : FileRequest.Kind.WRITE, each.file(), offset, length));
        }
        return sizes;
    }

    private record Timed(double time, int file) {}

    /** Adds the times of a file's requests, as shares of the trace's duration. */
    private static void addTimes(List<Timed> timed, int file, int count, boolean isEven, SplittableRandom random) {
        double first = random.nextDouble() * (1 - BURST_DURATION);
        for (int i = 0; i < count; i++) {
            double burstEnd = first + BURST_DURATION;
            double place = isEven ? random.nextDouble() : StrictMath.pow(random.nextDouble(), SELF_SIMILAR);
            double time = i == 0
                    ? first
                    : random.nextDouble() < BURST_REQUESTS
                            ? first + place * BURST_DURATION
                            : burstEnd + random.nextDouble() * (1 - burstEnd);
            timed.add(new Timed(time, file));
        }
    }

    private static int[] permutation(int length, SplittableRandom random) {
        int[] order = new int[length];
        for (int i = 0; i < length; i++) {
            int other = random.nextInt(i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        return order;
    }

    /** Draws a number of mean 1. */
    private static double exponential(SplittableRandom random) {
        return -StrictMath.log(1 - random.nextDouble());
    }

    // --- var ---

    private static void addMail(List<FileRequest> made, long[] sizes, int requests, Mix mix, SplittableRandom random) {
        long[] now = sizes.clone();
        double meanBytes = (double) Arrays.stream(sizes).sum() / sizes.length;
        int lastRead = 0;
        for (int i = 0; i < requests; i++) {
            int file = random.nextInt(sizes.length);
            if (random.nextDouble() < mix.readShare()) {
                made.add(new FileRequest(FileRequest.Kind.READ, file, 0, now[file]));
                lastRead = file;
            } else if (random.nextBoolean()) {
                long length = Math.max(1, Math.round(APPEND_BYTES * exponential(random)));
                made.add(new FileRequest(FileRequest.Kind.WRITE, lastRead, now[lastRead], length));
                now[lastRead] += length;
            } else if (mix.overwrites()) {
                made.add(new FileRequest(FileRequest.Kind.WRITE, file, 0, now[file]));
            } else {
                now[file] = Math.max(LEAST_BYTES, Math.round(meanBytes * gamma(random)));
                made.add(new FileRequest(FileRequest.Kind.CREATE, file, 0, now[file]));
            }
        }
    }

    /** Draws a number of mean 1: half of three squared normal numbers has a gamma distribution of shape 1.5. */
    private static double gamma(SplittableRandom random) {
        double sum = 0;
        for (int i = 0; i < GAMMA_NORMALS; i++) {
            double normal = StrictMath.sqrt(-2 * StrictMath.log(1 - random.nextDouble()))
                    * StrictMath.cos(2 * Math.PI * random.nextDouble());
            sum += normal * normal;
        }
        return sum / GAMMA_NORMALS;
    }
}
