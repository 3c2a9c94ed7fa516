package org.opendedup.sar.sdfs.cli.command;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeOption;

/** Reports what {@code sdfscli VOLUME set} changed, for people and as JSON. */
public final class ChangeReport {
    private static final String BEFORE = "before";
    private static final String AFTER = "after";

    private ChangeReport() {}

    /** @param names of the options that were set, as the command names them without dashes */
    public static Map<String, Object> of(VolumeDefinition before, VolumeDefinition after, Set<String> names) {
        return Map.of(BEFORE, texts(before, names), AFTER, texts(after, names));
    }

    private static Map<String, Object> texts(VolumeDefinition definition, Set<String> names) {
        var texts = new LinkedHashMap<String, Object>();
        VolumeDefinition.SETTABLE.forEach((name, option) -> {
            if (names.contains(name)) {
                texts.put(name, Objects.toString(definition.values().text(option), ""));
            }
        });
        return texts;
    }

    /**
     * Returns a line for each option that has another value now.
     *
     * @param mounted whether a daemon changed them, so that those that may take effect at once have done so
     */
    public static String text(Map<String, Object> report, boolean mounted) {
        Map<String, Object> before = Json.object(report, BEFORE);
        Map<String, Object> after = Json.object(report, AFTER);
        List<String> lines = new ArrayList<>();
        after.forEach((name, value) -> {
            VolumeOption<?> option = VolumeDefinition.SETTABLE.get(name);
            boolean later = !mounted || option == null || option.isOfNextMount();
            lines.add(
                    value.equals(before.get(name))
                            ? name + " is " + value + " already"
                            : name + ": " + shown(String.valueOf(before.get(name))) + " -> " + value
                                    + (later ? ", from the next mount on" : ", from now on"));
        });
        return String.join(System.lineSeparator(), lines);
    }

    private static String shown(String value) {
        return value.isEmpty() ? "default" : value;
    }
}
