package org.opendedup.sar.sdfs.cli.upstream;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The commands of OpenDedup's {@code sdfscli}, as options in its older releases ({@code --volume-info}) and as words in
 * its newer ones ({@code config -volume}). They reach a volume by its port; here it is the only one that has a file.
 */
public final class CliSpellings {
    private static final String SNAPSHOT = "'sdfscli VOLUME clone SOURCE COPY' copies a file or folder without data, "
            + "'sdfscli VOLUME snapshot create' keeps the whole volume as it is now";

    /** Options of older releases, and our commands for them. */
    private static final Map<String, String> COMMANDS = Map.of(
            "volume-info", "info",
            "dse-info", "stats",
            "file-info", "file",
            "cleanstore", "gc");

    /** Options of both that are refused, and what to do instead. */
    private static final Map<String, String> REFUSED = Map.of(
            "snapshot",
            SNAPSHOT,
            "flush-all-buffers",
            "use 'sync MOUNTPOINT'",
            "flush-file-buffers",
            "use 'sync FILE'",
            "change-password",
            "there is no network listener, so there is no password");

    /** Options of both with the new size of the volume. */
    private static final Set<String> EXPANDING = Set.of("expandvolume", "expand");

    /** Words of newer releases before an option. */
    private static final Set<String> GROUPS = Set.of("config", "file");

    private static final Map<String, String> NEWER =
            Map.of("volume", "info", "dse", "stats", "volume-info", "info", "dse-info", "stats", "file-info", "file");

    private static final String PATH = "file-path";
    private static final Set<String> CONNECTION =
            Set.of("port", "server", "password", "nossl", "address", "disableTrust", "trust-all");

    private CliSpellings() {}

    /**
     * As {@link org.opendedup.sar.sdfs.cli.command.Spellings#translated}.
     *
     * @param volumes returns the names of all volumes that have a file
     */
    public static List<String> translated(
            List<String> arguments, Supplier<List<String>> volumes, Consumer<String> notes) {
        boolean isNewer = arguments.size() > 1
                && GROUPS.contains(arguments.get(0))
                && arguments.get(1).matches("-[a-z]{3,}.*");
        List<String> words = isNewer ? withTwoHyphens(arguments.subList(1, arguments.size())) : arguments;
        String command = null;
        String asked = "";
        String path = null;
        List<String> others = new ArrayList<>();
        for (int place = 0; place < words.size(); ) {
            LongOption option = LongOption.at(words, place);
            if (option == null) {
                others.add(words.get(place++));
                continue;
            }
            String instead = REFUSED.get(option.name());
            if (instead != null) {
                throw new IllegalArgumentException("--" + option.name() + " is not supported here: " + instead);
            }
            String found = isNewer ? NEWER.get(option.name()) : COMMANDS.get(option.name());
            if (EXPANDING.contains(option.name())) {
                if (option.value() == null) {
                    throw new IllegalArgumentException("--" + option.name() + " names no size, such as 2TB");
                }
                command = "set";
                asked = option.name();
                path = "--capacity=" + option.value();
                place += option.words();
            } else if (found != null) {
                command = found;
                asked = option.name();
                if (option.name().equals("cleanstore")) {
                    notes.accept("--cleanstore: its minutes have no effect, nothing is kept for a time");
                }
                place += words.get(place).contains("=") || !option.name().equals("cleanstore") ? 1 : option.words();
            } else if (option.name().equals(PATH)) {
                path = option.value();
                place += option.words();
            } else if (CONNECTION.contains(option.name())) {
                notes.accept("--" + option.name() + " has no effect: there is no network listener");
                place += option.words();
            } else {
                others.add(words.get(place++));
            }
        }
        return command == null ? arguments : ours(asked, command, path, others, volumes.get());
    }

    private static List<String> withTwoHyphens(List<String> words) {
        return words.stream()
                .map(word -> word.matches("-[a-z].*") ? "-" + word : word)
                .toList();
    }

    private static List<String> ours(
            String asked, String command, @Nullable String path, List<String> others, List<String> volumes) {
        List<String> ours = new ArrayList<>();
        // A volume that is named nevertheless.
        if (!others.isEmpty() && !others.get(0).startsWith("-")) {
            ours.add(others.remove(0));
        } else if (volumes.size() == 1) {
            ours.add(volumes.get(0));
        } else {
            throw new IllegalArgumentException("--" + asked + " names no volume, and there "
                    + (volumes.isEmpty() ? "is none" : "are several: " + String.join(", ", volumes))
                    + "; use 'sdfscli VOLUME " + command + "'");
        }
        ours.add(command);
        if (path != null) {
            ours.add(path);
        }
        ours.addAll(others);
        return ours;
    }
}
