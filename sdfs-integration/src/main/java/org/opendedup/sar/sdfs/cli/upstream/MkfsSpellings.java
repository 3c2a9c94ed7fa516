package org.opendedup.sar.sdfs.cli.upstream;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The options of OpenDedup's {@code mkfs.sdfs}. */
public final class MkfsSpellings {
    private static final String COMPRESS = "chunk-store-compress";
    private static final String PAGE = "io-chunk-size";
    private static final String INDEX = "chunk-store-hashdb-class";

    private static final String ENCRYPT = "chunk-store-encrypt";

    private static final Map<String, String> RENAMED =
            Map.of("sdfs-base-path", "base-path", "chunk-store-gc-schedule", "io-claim-chunks-schedule");

    private static final String DURABLE = "an fsync always makes the data durable";
    private static final String NO_LISTENER =
            "there is no network listener; sdfscli uses a socket that only the volume's owner can open";
    private static final String MEMORY = "--memory-budget divides all memory";

    /** Options that have no effect here, and why. */
    private static final Map<String, String> WITHOUT_EFFECT = Map.ofEntries(
            Map.entry("io-safe-sync", DURABLE),
            Map.entry("io-safe-close", DURABLE),
            Map.entry("io-log", "the daemon's log is BASE/log/NAME.log"),
            Map.entry("io-dedup-files", "all files are deduplicated"),
            Map.entry("io-max-file-write-buffers", MEMORY),
            Map.entry("io-max-open-files", "the memory budget bounds the number of open files"),
            Map.entry("io-meta-file-cache", MEMORY),
            Map.entry("hashtable-rm-threshold", MEMORY),
            Map.entry("local-cache-size", "--local-cache bounds what is kept of a volume in an object store"),
            Map.entry("chunk-store-size", "containers may fill their disk; --volume-capacity limits the files"),
            Map.entry("chunk-store-io-threads", "--io-write-threads sets the number of threads"),
            Map.entry("report-dse-size", "df shows what the volume can store"),
            Map.entry("report-dse-capacity", "df shows what the volume can store"),
            Map.entry("use-perf-mon", "sdfscli VOLUME stats and JMX show the figures"),
            Map.entry("gc-class", "there is one garbage collector"),
            Map.entry("enable-batch-gc", "there is one garbage collector"),
            Map.entry("compress-metadata", "the metadata are always compressed"),
            Map.entry("sdfscli-listen-addr", NO_LISTENER),
            Map.entry("sdfscli-listen-port", NO_LISTENER),
            Map.entry("sdfscli-password", NO_LISTENER),
            Map.entry("sdfscli-salt", NO_LISTENER),
            Map.entry("sdfscli-require-auth", NO_LISTENER),
            Map.entry("sdfscli-require-mutual-tls", NO_LISTENER),
            Map.entry("sdfscli-disable-ssl", NO_LISTENER));

    private static final String CLOUD = "a volume can lie in S3 or HDFS: --object-store=s3://BUCKET/PREFIX. Keys are "
            + "taken from the environment or ~/.aws/credentials. docs/SCALE.md says more";
    private static final String ENCRYPTION =
            "use --encrypt, with --passphrase-file, --key-file or --passphrase-command: every user can read a key on a"
                    + " command line";
    private static final String PLUGIN =
            "a class of OpenDedup's own programs cannot be loaded. docs/PLUGIN.md says how "
                    + "a volume of OpenDedup SDFS uses this engine";

    /** Beginnings of options that are refused, and what to do instead. */
    private static final Map<String, String> REFUSED = Map.ofEntries(
            Map.entry("aws-", CLOUD),
            Map.entry("azure", CLOUD),
            Map.entry("backblaze-", CLOUD),
            Map.entry("cloud-", CLOUD),
            Map.entry("gcs-", CLOUD),
            Map.entry("glacier-", CLOUD),
            Map.entry("google-", CLOUD),
            Map.entry("minio-", CLOUD),
            Map.entry("pubsub-", CLOUD),
            Map.entry("s3-compatible-target", CLOUD),
            Map.entry("simple-s3", CLOUD),
            Map.entry("encrypt-", ENCRYPTION),
            Map.entry(ENCRYPT, ENCRYPTION),
            Map.entry("chunk-store-iv", ENCRYPTION),
            Map.entry("chunkstore-class", PLUGIN));

    private MkfsSpellings() {}

    /** As {@link org.opendedup.sar.sdfs.cli.command.Spellings#translated}. */
    public static List<String> translated(List<String> arguments, Consumer<String> notes) {
        List<String> ours = new ArrayList<>();
        for (int place = 0; place < arguments.size(); ) {
            LongOption option = LongOption.at(arguments, place);
            if (option == null) {
                ours.add(arguments.get(place++));
                continue;
            }
            String translated = translated(option, notes);
            if (translated != null) {
                ours.add(translated);
                place += option.words();
            } else if (isLeftOut(option, notes)) {
                place += option.words();
            } else {
                ours.add(arguments.get(place++));
            }
        }
        return ours;
    }

    /** Returns our option with the same meaning; null if there is none with another spelling. */
    private static @Nullable String translated(LongOption option, Consumer<String> notes) {
        String value = option.value();
        if (value == null) {
            return null;
        }
        String name = RENAMED.get(option.name());
        if (name != null) {
            notes.accept("--" + option.name() + " is --" + name + " here");
            return "--" + name + "=" + value;
        }
        if (option.name().equals(COMPRESS) && option.is("true")) {
            notes.accept("--" + COMPRESS + "=true means zstd; lz4 is faster and stores more");
            return "--" + COMPRESS + "=zstd";
        }
        if (option.name().equals(COMPRESS) && option.is("false")) {
            return "--" + COMPRESS + "=none";
        }
        if (option.name().equals(ENCRYPT) && option.is("true")) {
            notes.accept("--" + ENCRYPT + "=true is --encrypt here");
            return "--encrypt";
        }
        if (option.name().equals(PAGE) && value.matches("\\d{1,9}")) {
            // OpenDedup's unit is kB.
            return "--" + PAGE + "=" + value + "KB";
        }
        if (option.name().equals(INDEX) && value.indexOf('.') >= 0) {
            throw refused(INDEX, "its values here are rocksdb, chunkstash and silo; " + PLUGIN);
        }
        return null;
    }

    private static boolean isLeftOut(LongOption option, Consumer<String> notes) {
        String reason = WITHOUT_EFFECT.get(option.name());
        if (reason != null) {
            notes.accept("--" + option.name() + " has no effect: " + reason);
            return true;
        }
        String instead = REFUSED.entrySet().stream()
                .filter(entry -> option.name().startsWith(entry.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(null);
        if (instead == null) {
            return false;
        }
        if (option.is("false")) {
            notes.accept("--" + option.name() + "=false has no effect: it is never on");
            return true;
        }
        throw refused(option.name(), instead);
    }

    private static IllegalArgumentException refused(String name, String instead) {
        return new IllegalArgumentException("--" + name + " is not supported here: " + instead);
    }
}
