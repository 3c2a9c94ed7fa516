package org.opendedup.sar.sdfs.jmx;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.management.openmbean.CompositeData;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.LatencyBuckets;
import org.opendedup.sar.restore.frame.ReadLatencies.From;
import org.opendedup.sar.sdfs.jmx.RecordBean.Effect;
import org.opendedup.sar.sdfs.jmx.RecordBean.Limits;
import org.opendedup.sar.sdfs.jmx.RecordBean.Parameter;

/** The beans about files, their readers, and the fast tier. */
final class FileBeans {
    /** A sample of the fast tier looks at all raw files. */
    private static final Duration TIER_AGE_MAX = Duration.ofSeconds(1);

    private static final Duration CACHE_AGE_MAX = Duration.ofMillis(200);
    private static final Duration LATENCIES_AGE_MAX = Duration.ofMillis(200);

    private FileBeans() {}

    private static Parameter path(String text) {
        return new Parameter(String.class, "path", text + ", from the volume's root", "path", Limits.NONE);
    }

    private static Object begun(Closing.Step start) {
        return Beans.call(() -> {
            start.run();
            return true;
        });
    }

    static RecordBean files(FileCare files) {
        return new RecordBean("Files of the volume: how they are read, restores, defragmentation")
                .operation(
                        Effect.LOOKS,
                        CompositeData.class,
                        "explain",
                        "Shows which containers a file wants, which of its bytes the SSD has, and how fast it is read",
                        "picture",
                        List.of(path("The file")),
                        arguments -> Composite.of(
                                "FilePicture",
                                "A file as a picture",
                                Beans.call(() -> files.picture(String.valueOf(arguments[0])))))
                .operation(
                        Effect.REACHES_THE_MACHINE,
                        boolean.class,
                        "restore",
                        "Begins to restore a file or folder to another file system, or continues that; type=Jobs shows"
                                + " how far it is",
                        "true",
                        List.of(
                                path("The file or folder"),
                                new Parameter(
                                        String.class,
                                        "destination",
                                        "Absolute path of what is made",
                                        "path",
                                        Limits.NONE)),
                        arguments -> begun(() ->
                                files.restore(String.valueOf(arguments[0]), Path.of(String.valueOf(arguments[1])))))
                .operation(
                        boolean.class,
                        "defragment",
                        "Begins to write the chunks of a file anew that lie in containers of which it uses little;"
                                + " type=Jobs shows how far it is",
                        "true",
                        List.of(path("The file")),
                        arguments -> begun(() -> files.defragment(String.valueOf(arguments[0]))));
    }

    static RecordBean streams(FileCare files) {
        return new RecordBean("Sequential readers, which are read ahead, and the disk that they read from")
                .attribute(
                        CompositeData[].class,
                        "Readers",
                        "The readers, the fastest first",
                        "readers",
                        () -> Composite.all("Stream", "A sequential reader", files.readers()))
                .figures(DiskFigures.class, "", "Disk", files::disk);
    }

    static RecordBean restoreCache(FileCare files) {
        return new RecordBean("Chunks that stay in memory for sequential readers (lookahead paper §3)")
                .figures(RestoreCacheFigures.class, new Recent<>(CACHE_AGE_MAX, files::restoreCache));
    }

    /** @param sample returns how long the reads of programs took since the mount, of all places */
    static RecordBean readLatencies(Beans.Call<Map<From, LatencyBuckets.Counts>> sample) {
        var bean = new RecordBean(
                        "How long reads of programs took since the mount, by the slowest place that each waited for."
                                + " What the kernel answers from its cache is not counted")
                .attribute(
                        long[].class,
                        "BucketBoundsMicros",
                        "Longest duration in each bucket; the last bucket has the longer ones",
                        "microseconds",
                        () -> array(LatencyBuckets.boundsMicros()));
        var recent = new Recent<>(LATENCIES_AGE_MAX, sample);
        for (From from : From.values()) {
            Supplier<LatencyBuckets.Counts> counts =
                    () -> Objects.requireNonNull(recent.get().get(from));
            String[] words = from.name().toLowerCase(Locale.ROOT).split("_");
            String name =
                    "From" + Arrays.stream(words).map(RecordBean::capitalized).collect(Collectors.joining());
            String reads = " of reads with this as the slowest place: " + String.join(" ", words);
            bean.attribute(
                            long.class,
                            name + "Reads",
                            "Number" + reads,
                            "reads",
                            () -> counts.get().total())
                    .attribute(
                            double.class,
                            name + "MeanMicros",
                            "Mean duration" + reads + "; 0 if there are none",
                            "microseconds",
                            () -> counts.get().meanMicros())
                    .attribute(
                            long[].class,
                            name + "Buckets",
                            "Numbers, by duration," + reads,
                            "reads",
                            () -> array(counts.get().counts()));
        }
        return bean;
    }

    private static long[] array(List<Long> numbers) {
        return numbers.stream().mapToLong(Long::longValue).toArray();
    }

    static RecordBean fastTier(Beans.Call<FastTierFigures> figures, TierWork work) {
        var bean = new RecordBean(
                        "The fast tier: new files that lie there whole until they are migrated (TDDFS paper §3)")
                .figures(FastTierFigures.class, new Recent<>(TIER_AGE_MAX, figures))
                .operation(
                        boolean.class,
                        "attach",
                        "Uses the fast tier again; returns whether it was not in use",
                        "true or false",
                        List.of(new Parameter(
                                boolean.class,
                                "new",
                                "Whether an empty folder may take the place of one that is lost for good",
                                "true or false",
                                Limits.NONE)),
                        arguments -> Beans.call(() -> work.attach((boolean) arguments[0])));
        for (TierWork.Kind kind : TierWork.Kind.values()) {
            bean.operation(
                    boolean.class,
                    kind.name().toLowerCase(Locale.ROOT),
                    kind.text() + ", in the background; type=Jobs shows how far it is",
                    "true",
                    List.of(path("The file or folder")),
                    arguments -> begun(() -> work.start(kind, String.valueOf(arguments[0]))));
        }
        return bean;
    }
}
