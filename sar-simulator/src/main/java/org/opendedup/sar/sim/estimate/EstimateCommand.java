package org.opendedup.sar.sim.estimate;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Terminal;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.volume.config.MemoryPlan;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code sar-sim estimate}: estimates what a volume would make of existing data. */
@Command(
        name = "estimate",
        sortOptions = false,
        description = {
            "Says what a volume would make of your data, before there is one.",
            "",
            "That is what it would store, the memory and SSD it wants, and how fast a disk would give it back.",
            "",
            "Folders, files and images are read and cut into chunks as the volume does it; nothing is written. Each PATH counts as",
            "stored after those before it, so give backups in their order.",
            ""
        },
        footer = {
            "",
            "How exact it is. All data is read (but see --sample). Of every chunk a fingerprint is kept, some 40 bytes; when --memory is",
            "full, only those are kept whose hash ends in one zero bit, then two, and so on. What is kept is chosen by content and not",
            "by place, so different chunks and their references are counted without bias; +- is one standard error of that: two times",
            "out of three the truth is within it, 19 out of 20 within twice as much. Without +- a figure is exact, but for what a real",
            "volume writes in another order, or ends early. Sizes of an SSD and speeds of a restore come without +-, and are not exact.",
            "",
            "A sample of the data (--sample) is another matter: duplicates of what was not read are not found. The deduplication ratio",
            "is then a lower bound, and the stored size an upper one. +- leaves out the error of drawing the pieces: chunks of one piece",
            "are alike, so compression and zeros of the whole may be farther off than it says.",
            "",
            "SSD: what must be on it so that a share of the bytes of one full restore comes from it: the chunks with the most",
            "references, each compressed by itself, and room for cleaning and for the table of what is there; 'memory' is what that table",
            "takes of the volume's. SAR leaves chunks in long runs on the disk, where they do no harm,",
            "so it may want less.",
            "",
            "Restore: the disk's time alone, from cold caches, all data of a PATH in its order; a seek for each request, and the bytes",
            "at the disk's rate. 'plain' is the same data as files, each in one piece. With chunks left out (see above) single",
            "scattered chunks escape the count, and the figure is too good; with very many left out it is not known, and not shown.",
            "",
            "Links are not followed, but for a PATH itself; a file with several names counts once; devices are passed over. Files that",
            "can't be read are named. Ctrl-C ends the reading and gives the figures of what was read, which are",
            "no bounds for the rest.",
            "",
            "Memory: --memory, 16 MB for buffers, and 100 bytes for each file with several names. SAR_SIM_MEMORY=4g gives Java more.",
            "",
            "Exit codes:  0 done, 1 failed, 2 wrong usage, 3 done, but for files that could not be read; 130 stopped by Ctrl-C",
            "",
            "Example:",
            "  sar-sim estimate --hash-type SHA256 --disk-seek 8 --disk-rate 200MB /var/lib/libvirt/images"
        })
public final class EstimateCommand implements Callable<Integer> {
    private static final int INCOMPLETE = 3;
    /** Exit code after an interruption: 128 plus the number of the signal, as in shells. */
    private static final int INTERRUPTED = 130;

    private static final long MAX_SAMPLE_BYTES = 16L << 30;
    private static final long MIN_SAMPLE_BYTES = 1 << 20;
    /** Default memory of the sample; it gets at most half of the heap. */
    private static final long DEFAULT_SAMPLE_BYTES = 512L << 20;

    private static final int FRAME_BYTES = 64 << 10;
    private static final int BACKUP_FRAME_BYTES = 256 << 10;
    private static final int ZSTD_LEVEL = 1;
    private static final int BACKUP_ZSTD_LEVEL = 3;

    @Spec
    @Nullable
    CommandSpec spec;

    @Parameters(arity = "1..*", paramLabel = "PATH", description = "Folders, files, images.")
    List<Path> paths = List.of();

    @Option(
            names = {"--chunking", "--hash-type"},
            paramLabel = "TYPE",
            defaultValue = "VARIABLE_SHA256",
            description =
                    "As of mkfs.sdfs: VARIABLE_SHA256 cuts by content, 2 to 64 KiB; SHA256 into 4 KiB, for disk images. "
                            + "Default: ${DEFAULT-VALUE}.")
    Chunking chunking = Chunking.VARIABLE_SHA256;

    @Option(
            names = {"--compress", "--chunk-store-compress"},
            paramLabel = "CODEC",
            converter = CodecConverter.class,
            description =
                    "As of mkfs.sdfs: zstd, zstd:LEVEL (1 to 19), lz4 or none. Default: zstd:1, with --backup-volume zstd:3.")
    @Nullable
    Codec codec;

    @Option(
            names = "--backup-volume",
            description = "As of mkfs.sdfs: larger frames (256KB, else 64KB), compressed harder.")
    boolean backupVolume;

    @Option(
            names = "--memory-budget",
            paramLabel = "SIZE",
            defaultValue = "1GB",
            converter = SizeConverter.class,
            description =
                    "The volume's; how long a reader keeps what it has read follows from it. Default: ${DEFAULT-VALUE}.")
    long budgetBytes;

    @Option(
            names = "--ssd-share",
            split = ",",
            paramLabel = "S",
            defaultValue = "0.1,0.25,0.5",
            description =
                    "Shares of the bytes of a full restore that an SSD is sized for, 0 to 1. Default: ${DEFAULT-VALUE}.")
    List<Double> ssdShares = List.of();

    @Option(
            names = "--disk-seek",
            paramLabel = "MS",
            description =
                    "The disk's mean time to the first byte of a request, in milliseconds. Default: 13.1, a 7200 rpm disk.")
    double seekMillis = DiskModel.DEFAULT.seekMillis();

    @Option(
            names = "--disk-rate",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Bytes it transfers in a second from there on. Default: 150 million.")
    long bytesPerSecond = DiskModel.DEFAULT.bytesPerSecond();

    @Option(
            names = "--sample",
            paramLabel = "S",
            description =
                    "Share of the data to read, 0 to 1, in pieces of 16 MiB and whole smaller files, drawn by chance. "
                            + "Default: all, but of more than 256 GiB a share that makes 256 GiB.")
    @Nullable
    Double readShare;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description =
                    "For fingerprints; 512MB is enough for 13 million different chunks. Default: 512MB, or half of Java's heap "
                            + "if that is less.")
    long memoryBytes = Math.min(DEFAULT_SAMPLE_BYTES, Runtime.getRuntime().maxMemory() / 2);

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Another sample of the same data. Default: ${DEFAULT-VALUE}.")
    long seed;

    @Option(names = "--json", description = "Print the result as JSON; sizes in bytes, shares 0 to 1.")
    boolean json;

    @Option(
            names = "--progress",
            negatable = true,
            description = "Show a progress bar, or none. Default: if messages go to a terminal.")
    @Nullable
    Boolean progress;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help message and exit.")
    boolean help;

    @Override
    public Integer call() throws IOException {
        EstimateSettings settings = settings();
        var commandLine = Objects.requireNonNull(spec).commandLine();
        PrintWriter messages = commandLine.getErr();
        boolean bar = progress == null ? Terminal.showsMessages() : progress;
        Progress shown = bar ? new ProgressBar(messages, System::nanoTime) : Progress.NONE;
        try (var signal = new StopSignal()) {
            Estimate estimate =
                    Estimator.estimate(paths, settings, shown, line -> tell(shown, messages, line), signal::isStopped);
            print(estimate, commandLine.getOut());
            if (signal.isStopped()) {
                return INTERRUPTED;
            }
            return estimate.unreadable() > 0 ? INCOMPLETE : 0;
        }
    }

    private static void tell(Progress shown, PrintWriter messages, String line) {
        shown.clear();
        messages.println("sar-sim: " + line);
        messages.flush();
    }

    private EstimateSettings settings() {
        require(budgetBytes >= MemoryPlan.MIN_BUDGET_BYTES, "--memory-budget is 256MB or more");
        require(ssdShares.stream().allMatch(share -> share > 0 && share <= 1), "--ssd-share is above 0, to 1");
        require(readShare == null || (readShare > 0 && readShare <= 1), "--sample is above 0, to 1");
        require(
                memoryBytes >= MIN_SAMPLE_BYTES && memoryBytes <= MAX_SAMPLE_BYTES,
                "--memory is " + ByteSize.exact(MIN_SAMPLE_BYTES) + " to " + ByteSize.exact(MAX_SAMPLE_BYTES));
        require(
                memoryBytes <= Runtime.getRuntime().maxMemory() / 4 * 3,
                "--memory is more than three quarters of Java's heap of "
                        + ByteSize.rounded(Runtime.getRuntime().maxMemory())
                        + "; SAR_SIM_MEMORY=SIZE sets another one");
        require(seekMillis >= 0 && bytesPerSecond > 0, "--disk-seek is 0 or more, --disk-rate 1 or more");
        return new EstimateSettings(
                chunking,
                compression(),
                budgetBytes,
                new DiskModel(seekMillis, bytesPerSecond),
                ssdShares,
                readShare == null ? 0 : readShare,
                memoryBytes,
                seed);
    }

    private void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(Objects.requireNonNull(spec).commandLine(), otherwise);
        }
    }

    private Compression compression() {
        Codec chosen = codec == null ? new Codec(Compression.Codec.ZSTD, null) : codec;
        int otherwise = backupVolume ? BACKUP_ZSTD_LEVEL : ZSTD_LEVEL;
        return new Compression(
                chosen.codec(),
                chosen.level() == null ? otherwise : chosen.level(),
                backupVolume ? BACKUP_FRAME_BYTES : FRAME_BYTES);
    }

    private void print(Estimate estimate, PrintWriter out) throws IOException {
        if (json) {
            out.println(new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(estimate));
        } else {
            new EstimateReport(estimate, out).print();
        }
        out.flush();
    }

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
