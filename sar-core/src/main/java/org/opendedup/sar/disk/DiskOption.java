package org.opendedup.sar.disk;

import java.util.Locale;

/**
 * Configuration of the device that holds the containers: {@code --restore-disk}.
 *
 * @param kind {@link Kind#GIVEN} with figures, else without
 * @param seekMillis for {@code GIVEN}: time from one request to the first byte of the next, in milliseconds
 * @param megabytesPerSecond for {@code GIVEN}: transfer rate, in millions of bytes a second
 * @param requestsAtOnce for {@code GIVEN}: number of concurrent requests; 0: to be measured
 */
public record DiskOption(Kind kind, double seekMillis, double megabytesPerSecond, int requestsAtOnce) {
    public static final DiskOption AUTO = new DiskOption(Kind.AUTO, 0, 0, 0);

    /** Values that {@link #parse} accepts. */
    public static final String ALLOWED =
            "auto, hdd, ssd, or SEEK_MS,MB_PER_S[,CONCURRENCY] with a seek of 0 to 1000 ms, a rate"
                    + " of 1 to 1000000 MB/s and 1 to " + ConcurrencyTuner.MAX_REQUESTS + " requests at once";

    /** What is known of the device. */
    public enum Kind {
        /** Measured while the volume is read; until then, assumed from the kind of device that the kernel reports. */
        AUTO,
        HDD,
        SSD,
        GIVEN
    }

    /** @throws IllegalArgumentException if a figure is out of range; the message names what is allowed */
    public DiskOption {
        boolean figuresHold = seekMillis >= 0
                && seekMillis <= 1000
                && megabytesPerSecond >= 1
                && megabytesPerSecond <= 1e6
                && requestsAtOnce >= 0
                && requestsAtOnce <= ConcurrencyTuner.MAX_REQUESTS;
        if (kind == Kind.GIVEN && !figuresHold) {
            throw problem(seekMillis + "," + megabytesPerSecond + "," + requestsAtOnce);
        }
    }

    private static IllegalArgumentException problem(String text) {
        return new IllegalArgumentException("the restore disk '" + text + "' is not known; allowed: " + ALLOWED);
    }

    /**
     * Parses {@code auto}, {@code hdd}, {@code ssd} or {@code SEEK_MS,MB_PER_S[,CONCURRENCY]}.
     *
     * @throws IllegalArgumentException if the text is none of these; the message names what is allowed
     */
    public static DiskOption parse(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "auto" -> AUTO;
            case "hdd" -> new DiskOption(Kind.HDD, 0, 0, 0);
            case "ssd" -> new DiskOption(Kind.SSD, 0, 0, 0);
            default -> figures(text);
        };
    }

    private static DiskOption figures(String text) {
        String[] parts = text.split(",", -1);
        if (parts.length < 2 || parts.length > 3) {
            throw problem(text);
        }
        try {
            int requests = parts.length == 3 ? Integer.parseInt(parts[2].strip()) : 0;
            if (parts.length == 3 && requests == 0) {
                throw problem(text);
            }
            return new DiskOption(Kind.GIVEN, Double.parseDouble(parts[0]), Double.parseDouble(parts[1]), requests);
        } catch (NumberFormatException e) {
            IllegalArgumentException problem = problem(text);
            problem.initCause(e);
            throw problem;
        }
    }

    /** Returns the text that {@link #parse} accepts for this option. */
    @Override
    public String toString() {
        if (kind != Kind.GIVEN) {
            return kind.name().toLowerCase(Locale.ROOT);
        }
        return seekMillis + "," + megabytesPerSecond + (requestsAtOnce == 0 ? "" : "," + requestsAtOnce);
    }

    /**
     * Returns the initial cost model.
     *
     * @param rotates whether the device is assumed to be a rotating disk; used for {@link Kind#AUTO} only
     */
    DiskModel model(boolean rotates) {
        return switch (kind) {
            case AUTO -> rotates ? DiskModel.HDD : DiskModel.SSD;
            case HDD -> DiskModel.HDD.from(DiskModel.Source.CONFIGURED);
            case SSD -> DiskModel.SSD.from(DiskModel.Source.CONFIGURED);
            case GIVEN -> DiskModel.configured(seekMillis, Math.round(megabytesPerSecond * 1e6));
        };
    }
}
