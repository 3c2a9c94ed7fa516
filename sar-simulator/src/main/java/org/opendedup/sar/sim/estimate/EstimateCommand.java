package org.opendedup.sar.sim.estimate;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Terminal;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.objects.StorePrices;
import org.opendedup.sar.sim.options.ChunkingOption;
import org.opendedup.sar.sim.options.SimCommand;
import org.opendedup.sar.volume.config.MemoryPlan;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** {@code sar-sim estimate}, and {@code sdfscli estimate}: estimates what a volume would make of existing data. */
@Command(
        name = "estimate",
        sortOptions = false,
        description = {
            "Estimates how a volume would store your data, before you make the volume.",
            "",
            "Prints the stored size, the memory, the index and the SSD that the volume needs, and how fast a disk",
            "would read the data.",
            "",
            "Reads folders, files and images and cuts them into chunks as a volume does. Writes nothing. Each PATH",
            "counts as stored after those before it, so give backups in their order.",
            ""
        },
        footer = {
            "",
            "Accuracy: all data is read, unless --sample is given. A fingerprint of each chunk is kept, of about 40",
            "bytes. When --memory is full, only fingerprints are kept whose hash ends in one zero bit, then in two,",
            "and so on. They are chosen by content, not by place, so the numbers of different chunks and of their",
            "references have no bias. +- is one standard error: the true value lies within it in 2 of 3 cases, and",
            "within twice as much in 19 of 20. A figure without +- is exact, except for chunks that a real volume",
            "writes in another order or ends early. Sizes of an SSD and speeds of a restore have no +- and are not",
            "exact.",
            "",
            "--sample: duplicates of data that was not read are not found. The deduplication ratio is then a lower",
            "bound, and the stored size an upper bound. +- does not include the error of drawing the pieces. Chunks",
            "of one piece are similar, so compression and zeros of all data may differ by more than +-.",
            "",
            "SSD: the size that serves a share of the bytes of one full restore. It holds the chunks with the most",
            "references, each compressed by itself, and room for cleaning and for the table of chunks. 'memory' is",
            "the part of the volume's memory that this table uses. SAR keeps chunks in long runs on the disk, which",
            "reads them well, so it may need less.",
            "",
            "Index: the class for mkfs.sdfs --chunk-store-hashdb-class. An exact one is chosen if --ram is enough for",
            "it: chunkstash with --index-ssd, else rocksdb. If not, chunkstash with samples of 1/2 to 1/64 on an SSD,",
            "else silo: they find nearly all duplicates of data that recurs in its order, as backups do.",
            "",
            "Restore: the time of the disk alone, with empty caches, for all data of a PATH in its order: one seek",
            "for each request, and the transfer of the bytes. 'plain' is the same data as files, each in one piece.",
            "If fingerprints were dropped (see Accuracy), some scattered chunks are not counted, and the speed is",
            "too high. If very many were dropped, no speed is shown.",
            "",
            "Object store: with --store-prices, what the volume costs there, in the currency of the prices. A month's",
            "cost is an upper bound: of a volume that is always mounted and written to all day.",
            "",
            "Symbolic links are not followed, except for a PATH itself. A file with several names counts once.",
            "Devices are skipped. Files that cannot be read are named. Ctrl-C stops reading and prints the figures",
            "of the data that was read; they are no bounds for the rest.",
            "",
            "Memory: --memory, 16 MB for buffers, and 100 bytes for each file with several names. SAR_SIM_MEMORY=4g",
            "gives Java more.",
            "",
            "Exit codes:  0 done, 1 failed, 2 wrong usage, 3 done, except for files that could not be read,",
            "             130 stopped by Ctrl-C",
            "",
            "Example:",
            "  ${COMMAND-FULL-NAME} --hash-type SHA256 --disk-seek 8 --disk-rate 200MB /var/lib/libvirt/images"
        })
public final class EstimateCommand extends SimCommand {
    private static final int INCOMPLETE = 3;
    /** Exit code after an interruption: 128 plus the number of the signal, as in shells. */
    private static final int INTERRUPTED = 130;

    private static final long MAX_SAMPLE_BYTES = 16L << 30;
    private static final long MIN_SAMPLE_BYTES = 1 << 20;
    /** Default memory of the sample; it gets at most half of the heap. */
    private static final long DEFAULT_SAMPLE_BYTES = 512L << 20;

    private static final double PERCENT = 100;

    private static final int FRAME_BYTES = 64 << 10;
    private static final int BACKUP_FRAME_BYTES = 256 << 10;
    private static final int ZSTD_LEVEL = 1;
    private static final int BACKUP_ZSTD_LEVEL = 3;

    @Parameters(arity = "1..*", paramLabel = "PATH", description = "Folders, files or images.")
    List<Path> paths = List.of();

    @Mixin
    ChunkingOption chunking = new ChunkingOption();

    @Option(
            names = {"--compress", "--chunk-store-compress"},
            paramLabel = "CODEC",
            converter = CodecConverter.class,
            description = "Compression as in mkfs.sdfs: zstd, zstd:LEVEL (1 to 19), lz4 or none. Default: zstd:1; with "
                    + "--backup-volume zstd:3.")
    @Nullable
    Codec codec;

    @Option(
            names = "--backup-volume",
            description = "As in mkfs.sdfs: compress harder, in frames of 256KB instead of 64KB.")
    boolean backupVolume;

    @Option(
            names = "--memory-budget",
            paramLabel = "SIZE",
            defaultValue = "1GB",
            converter = SizeConverter.class,
            description = "Memory budget of the volume. It sets how long data stays in memory for a reader. Default: "
                    + "${DEFAULT-VALUE}.")
    long budgetBytes;

    @Option(
            names = "--ssd-share",
            split = ",",
            paramLabel = "S",
            defaultValue = "0.1,0.25,0.5",
            description =
                    "Shares of the bytes of a full restore, above 0 to 1, for each of which an SSD is sized. Default:"
                            + " ${DEFAULT-VALUE}.")
    List<Double> ssdShares = List.of();

    @Option(
            names = "--disk-seek",
            paramLabel = "MS",
            description =
                    "Mean time of the disk to the first byte of a request, in milliseconds. Default: 13.1, as of a "
                            + "7200 rpm disk.")
    double seekMillis = DiskModel.HDD.seekMillis();

    @Option(
            names = "--disk-rate",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Bytes that the disk transfers in each second after that. Default: 150 million.")
    long bytesPerSecond = DiskModel.HDD.bytesPerSecond();

    @Option(
            names = "--sample",
            paramLabel = "S",
            description =
                    "Share of the data to read, 0 to 1, in random pieces of 16 MiB and whole smaller files. Default: "
                            + "all of up to 256 GiB; of more data, a share that makes 256 GiB.")
    @Nullable
    Double readShare;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "Memory for fingerprints; 512MB is enough for 13 million different chunks. Default: 512MB, or "
                            + "half of Java's heap if that is less.")
    long memoryBytes = Math.min(DEFAULT_SAMPLE_BYTES, Runtime.getRuntime().maxMemory() / 2);

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Seed of the sample; another seed takes another sample of the same data. Default: "
                    + "${DEFAULT-VALUE}.")
    long seed;

    @Option(
            names = "--ram",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "Largest memory budget that the volume may have, for the recommended index. Default: a quarter"
                            + " of this machine's memory, 256MB or more.")
    @Nullable
    Long ramBytes;

    @Option(names = "--index-ssd", description = "There is an SSD for the index.")
    boolean indexSsd;

    @Option(
            names = "--expected-unique",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Bytes of different chunks that the volume will have some day, for the recommended index."
                    + " Default: those of the PATHs.")
    long expectedUniqueBytes;

    @Option(
            names = "--store-prices",
            paramLabel = "PRICES",
            converter = PricesConverter.class,
            description = "Also estimate what the volume costs in an object store that charges this, as for mkfs.sdfs:"
                    + " s3-standard, s3-standard-ia, or five numbers.")
    @Nullable
    StorePrices prices;

    @Option(
            names = "--daily-change",
            paramLabel = "PERCENT",
            defaultValue = "2",
            description = "Share of the stored data that is replaced each day, for --store-prices. Default: "
                    + "${DEFAULT-VALUE}.")
    double dailyChangePercent;

    @Option(names = "--json", description = "Print the result as JSON; sizes in bytes, shares 0 to 1.")
    boolean json;

    @Option(
            names = "--progress",
            negatable = true,
            description = "Show a progress bar, or none. Default: a bar if messages go to a terminal.")
    @Nullable
    Boolean progress;

    @Override
    public Integer call() throws IOException {
        EstimateSettings settings = settings();
        PrintWriter messages = err();
        boolean bar = progress == null ? Terminal.showsMessages() : progress;
        Progress shown = bar ? new ProgressBar(messages, System::nanoTime) : Progress.NONE;
        try (var signal = new StopSignal()) {
            Estimate estimate = Estimator.estimate(
                    paths, settings, shown, line -> report(shown, messages, line), signal::isStopped);
            print(estimate, out());
            if (signal.isStopped()) {
                return INTERRUPTED;
            }
            return estimate.unreadable() > 0 ? INCOMPLETE : 0;
        }
    }

    private void report(Progress shown, PrintWriter messages, String line) {
        shown.clear();
        messages.println(program() + ": " + line);
        messages.flush();
    }

    private EstimateSettings settings() {
        require(budgetBytes >= MemoryPlan.MIN_BUDGET_BYTES, "--memory-budget must be 256MB or more");
        require(ram() >= MemoryPlan.MIN_BUDGET_BYTES, "--ram must be 256MB or more");
        require(
                ssdShares.stream().allMatch(share -> share > 0 && share <= 1),
                "--ssd-share must be above 0 and at most 1");
        require(readShare == null || (readShare > 0 && readShare <= 1), "--sample must be above 0 and at most 1");
        require(
                memoryBytes >= MIN_SAMPLE_BYTES && memoryBytes <= MAX_SAMPLE_BYTES,
                "--memory must be " + ByteSize.exact(MIN_SAMPLE_BYTES) + " to " + ByteSize.exact(MAX_SAMPLE_BYTES));
        require(
                memoryBytes <= Runtime.getRuntime().maxMemory() / 4 * 3,
                "--memory is more than three quarters of Java's heap of "
                        + ByteSize.rounded(Runtime.getRuntime().maxMemory())
                        + "; SAR_SIM_MEMORY=SIZE sets another one");
        require(
                dailyChangePercent >= 0 && dailyChangePercent <= PERCENT,
                "--daily-change must be 0 to 100, a share in percent");
        require(seekMillis >= 0 && bytesPerSecond > 0, "--disk-seek must be 0 or more, --disk-rate 1 or more");
        return new EstimateSettings(
                chunking.chunking(),
                compression(),
                budgetBytes,
                DiskModel.configured(seekMillis, bytesPerSecond),
                ssdShares,
                readShare == null ? 0 : readShare,
                memoryBytes,
                seed,
                new IndexChoice.Conditions(ram(), indexSsd, expectedUniqueBytes));
    }

    private long ram() {
        if (ramBytes != null) {
            return ramBytes;
        }
        long machine =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
        return Math.max(MemoryPlan.MIN_BUDGET_BYTES, machine / 4);
    }

    private Compression compression() {
        Codec chosen = codec == null ? new Codec(Compression.Codec.ZSTD, null) : codec;
        int otherwise = backupVolume ? BACKUP_ZSTD_LEVEL : ZSTD_LEVEL;
        return new Compression(
                chosen.codec(),
                chosen.level() == null ? otherwise : chosen.level(),
                backupVolume ? BACKUP_FRAME_BYTES : FRAME_BYTES);
    }

    private void print(Estimate estimate, PrintWriter out) {
        StoreCost cost = prices == null
                ? null
                : StoreCost.of(
                        (estimate.isSample() ? estimate.wholeStoredBytesAtMost() : estimate.storedBytes()).value(),
                        dailyChangePercent / PERCENT,
                        prices);
        if (json) {
            printJson(cost == null ? estimate : new WithCost(estimate, cost));
        } else {
            new EstimateReport(estimate, out).print(cost);
        }
        out.flush();
    }

    /** What is printed as JSON if there are prices. */
    record WithCost(@JsonUnwrapped Estimate estimate, StoreCost objectStore) {}

    /** A codec, and its level if one was given. */
    record Codec(Compression.Codec codec, @Nullable Integer level) {}

    static final class CodecConverter implements ITypeConverter<Codec> {
        private static final Pattern SYNTAX = Pattern.compile("none|lz4|zstd(?::([1-9]|1[0-9]))?");

        @Override
        public Codec convert(String text) {
            Matcher matcher = SYNTAX.matcher(text);
            if (!matcher.matches()) {
                throw new TypeConversionException(
                        "'" + text + "' is no compression; use zstd, zstd:LEVEL (1 to 19), lz4 or none");
            }
            return switch (text.charAt(0)) {
                case 'n' -> new Codec(Compression.Codec.NONE, null);
                case 'l' -> new Codec(Compression.Codec.LZ4, null);
                default ->
                    new Codec(
                            Compression.Codec.ZSTD,
                            matcher.group(1) == null ? null : Integer.valueOf(matcher.group(1)));
            };
        }
    }

    static final class PricesConverter implements ITypeConverter<StorePrices> {
        @Override
        public StorePrices convert(String text) {
            try {
                return StorePrices.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    static final class SizeConverter implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            try {
                return ByteSize.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
