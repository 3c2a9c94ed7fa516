package org.opendedup.sar.sdfs.cli.upstream;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The options of OpenDedup's {@code mount.sdfs}, and the mount options that its users pass. */
public final class MountSpellings {
    /** Mount options of libfuse 2 that its users pass, and that change nothing here. */
    private static final Set<String> WITHOUT_EFFECT = Set.of("direct_io", "big_writes", "nonempty", "large_read");

    private static final String NAME_IN_TABLE = "fsname=";

    private MountSpellings() {}

    /**
     * As {@link org.opendedup.sar.sdfs.cli.command.Spellings#translated}. OpenDedup's own options have another meaning
     * than ours, so they are translated only if volume and mount point are given as {@code -v} and {@code -m}.
     */
    public static List<String> translated(List<String> arguments, Consumer<String> notes) {
        boolean isTheirs = arguments.contains("-v") && arguments.contains("-m");
        return withoutMountOptions(isTheirs ? theirs(arguments, notes) : arguments, notes);
    }

    private static List<String> theirs(List<String> arguments, Consumer<String> notes) {
        List<String> ours = new ArrayList<>();
        String volume = null;
        String mountPoint = null;
        for (int place = 0; place < arguments.size(); place++) {
            String word = arguments.get(place);
            switch (word) {
                case "-v" -> volume = value(arguments, ++place, word);
                case "-m" -> mountPoint = value(arguments, ++place, word);
                case "-p" -> {
                    value(arguments, ++place, word);
                    notes.accept("-p has no effect: there is no network listener");
                }
                case "-b", "-t" -> {
                    value(arguments, ++place, word);
                    notes.accept(word + " has no effect: the volume file names all folders");
                }
                case "-s", "-u" -> notes.accept(word + " has no effect: there is no network listener");
                case "-q" -> notes.accept("-q has no effect: -f logs to the error stream");
                case "-a", "-c" ->
                    notes.accept(word + " has no effect: sdfscli VOLUME check, or sdfs-check VOLUME while "
                            + "it is not mounted, checks a volume");
                case "-h" -> ours.add("--help");
                case "-e", "-j" ->
                    throw new IllegalArgumentException(word
                            + " is not supported here: a passphrase on a command line can be read by every user; use"
                            + " --passphrase-file or --passphrase-command");
                case "-r", "-w" ->
                    throw new IllegalArgumentException(
                            word + " is not supported here: a volume in an object store is opened "
                                    + "by its address, mount.sdfs ADDRESS MOUNTPOINT");
                case "-l", "-n" ->
                    throw new IllegalArgumentException(
                            word + " is not supported here: mount the volume, then use " + "sdfscli VOLUME gc");
                case "-f" ->
                    throw new IllegalArgumentException("-f names no file here; name the volume: mount.sdfs VOLUME "
                            + "MOUNTPOINT. SDFS_CONFIG_DIR sets the folder of the volume files");
                default -> ours.add(word);
            }
        }
        ours.add(String.valueOf(volume));
        ours.add(String.valueOf(mountPoint));
        return ours;
    }

    private static String value(List<String> arguments, int place, String option) {
        if (place == arguments.size()) {
            throw new IllegalArgumentException(option + " needs a value");
        }
        return arguments.get(place);
    }

    private static List<String> withoutMountOptions(List<String> arguments, Consumer<String> notes) {
        List<String> left = new ArrayList<>();
        for (int place = 0; place < arguments.size(); place++) {
            String word = arguments.get(place);
            if (word.equals("-o") && place + 1 < arguments.size()) {
                String options = withoutThem(arguments.get(++place), notes);
                if (options != null) {
                    left.add(word);
                    left.add(options);
                }
            } else {
                left.add(word);
            }
        }
        return left;
    }

    /** Returns the options of a list that are left; null if none is. */
    private static @Nullable String withoutThem(String list, Consumer<String> notes) {
        List<String> left = new ArrayList<>();
        for (String option : Arrays.asList(list.split(",", -1))) {
            if (WITHOUT_EFFECT.contains(option) || option.startsWith(NAME_IN_TABLE)) {
                notes.accept("mount option '" + option + "' has no effect here");
            } else {
                left.add(option);
            }
        }
        return left.isEmpty() ? null : String.join(",", left);
    }
}
