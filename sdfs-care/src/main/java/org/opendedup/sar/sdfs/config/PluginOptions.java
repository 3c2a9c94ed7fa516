package org.opendedup.sar.sdfs.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All options of a volume that OpenDedup SDFS mounts with the plugin, as attributes of {@code <extended-config>} in
 * SDFS's volume file. Most are options of any volume; those declared here no other volume has.
 */
public final class PluginOptions {
    /** Begins all names of attributes that are the plugin's. */
    static final String PREFIX = "sar-";

    public static final VolumeOption<String> JMX_NAME = own("sar-name", "jmxName", OptionKind.NAME)
            .byDefaultAs("the volume's name in SDFS's file")
            .text("Name in JMX. Commands, log and threads have the name in SDFS's file.");

    public static final VolumeOption<Integer> GRACE_MINUTES = own(
                    "sar-grace-period-minutes", "gracePeriodMinutes", OptionKind.integer("MINUTES"))
            .byDefault(60)
            .from(0)
            .to(525_600)
            .text("A chunk without references is kept for this long at least, and twice as long at most.");

    public static final VolumeOption<Boolean> COLLECT = own("sar-collect", "collect", OptionKind.BOOLEAN)
            .byDefault(true)
            .text("Whether collections remove anything.");

    public static final VolumeOption<Boolean> READ_AHEAD = own("sar-read-ahead", "readAhead", OptionKind.BOOLEAN)
            .byDefault(true)
            .text("Whether readers are read ahead, and logs of streams are written for that.");

    public static final VolumeOption<Boolean> SSD_ATTACH = own("sar-ssd-attach", "ssdAttach", OptionKind.BOOLEAN)
            .byDefault(false)
            .text("Whether an empty SSD location is filled after a volume was made without one. Otherwise it is "
                    + "taken for a disk that is not mounted.");

    public static final VolumeOption<Integer> SCRUB_DAYS = own(
                    "sar-scrub-interval-days", "scrubIntervalDays", OptionKind.integer("DAYS"))
            .byDefault(30)
            .from(0)
            .to(3650)
            .text("Days from the end of a scrub to the next one; 0: none starts by itself.");

    public static final VolumeOption<Path> PASSPHRASE_FILE = own(
                    "sar-passphrase-file", "passphraseFile", OptionKind.FILE)
            .mayBeAbsent("")
            .text("File with the passphrase of an encrypted volume; a line break at its end does not count. Without "
                    + "one of these three, the variable SDFS_PASSPHRASE of SDFS's process has it.");

    public static final VolumeOption<Path> KEY_FILE = own("sar-key-file", "keyFile", OptionKind.FILE)
            .mayBeAbsent("")
            .text("File whose bytes, all of them, are the key of an encrypted volume.");

    /** In no report: those who may only look would see a passphrase that somebody wrote into it. */
    public static final VolumeOption<String> PASSPHRASE_COMMAND = own(
                    "sar-passphrase-command", "", OptionKind.text("COMMAND", text -> text))
            .mayBeAbsent("")
            .text("Command of a shell that prints the passphrase of an encrypted volume, such as one that asks a KMS "
                    + "or a TPM. It must not have the passphrase itself.");

    /** Where the passphrase or key of an encrypted volume comes from: one of these, or none. */
    static final List<VolumeOption<?>> SECRET_SOURCES = List.of(PASSPHRASE_FILE, KEY_FILE, PASSPHRASE_COMMAND);

    /** The options of any volume that this one has, too. */
    static final List<VolumeOption<?>> SHARED = VolumeOptions.ALL.stream()
            .filter(option -> !option.ofPlugin().isEmpty())
            .toList();

    public static final List<VolumeOption<?>> ALL = Stream.concat(
                    Stream.of(
                            JMX_NAME,
                            GRACE_MINUTES,
                            COLLECT,
                            READ_AHEAD,
                            SSD_ATTACH,
                            SCRUB_DAYS,
                            PASSPHRASE_FILE,
                            KEY_FILE,
                            PASSPHRASE_COMMAND),
                    SHARED.stream())
            .toList();

    private static final Map<String, VolumeOption<?>> BY_NAME =
            ALL.stream().collect(Collectors.toMap(VolumeOption::ofPlugin, option -> option));

    private PluginOptions() {}

    private static <T> VolumeOption<T> own(String attribute, String key, OptionKind<T> kind) {
        return new VolumeOption<>("", PluginVolumeFile.ELEMENT + "/" + attribute, key, kind).inPlugin(attribute);
    }

    /**
     * Returns values with that of an attribute.
     *
     * @throws IllegalArgumentException if there is no such option, or the value is not allowed; the message names the
     *     attribute and what is allowed
     */
    public static OptionValues with(OptionValues values, String attribute, String text) {
        VolumeOption<?> option = BY_NAME.get(attribute);
        if (option == null) {
            throw new IllegalArgumentException("there is no setting " + attribute + "; there are "
                    + BY_NAME.keySet().stream().sorted().collect(Collectors.joining(", ")));
        }
        try {
            return values.withText(option, text.trim());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(attribute + ": " + e.getMessage(), e);
        }
    }
}
