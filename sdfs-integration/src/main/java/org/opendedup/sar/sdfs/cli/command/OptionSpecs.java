package org.opendedup.sar.sdfs.cli.command;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.config.OptionValues;
import org.opendedup.sar.sdfs.config.PluginOptions;
import org.opendedup.sar.sdfs.config.VolumeOption;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;

/**
 * Gives a command its options of {@link VolumeOptions}: mkfs.sdfs all, in their sections, a command that changes a
 * mounted volume those that it changes, and sar-plugin those of {@link PluginOptions}.
 */
public final class OptionSpecs implements IModelTransformer {
    /** Shorter names of options of sar-plugin, as {@code sdfscli VOLUME sar set} has them. */
    private static final Map<String, String> SHORTER =
            Map.of("--ssd-location", "--ssd", "--reference-count-threshold", "--threshold");

    @Override
    public CommandSpec transform(CommandSpec command) {
        if (command.name().equals("mkfs.sdfs")) {
            VolumeOptions.SECTIONS.forEach(section -> add(command, section));
        } else if (command.name().equals("enable")) {
            PluginOptions.ALL.forEach(option -> command.addOption(ofPlugin(option)));
        } else if (command.parent() != null) {
            // A command that is a method is also transformed before it has a parent.
            changed(command)
                    .forEach(
                            (name, option) -> command.addOption(spec(name, option, changedText(option), option::read)));
        }
        return command;
    }

    private static String changedText(VolumeOption<?> option) {
        return option.text() + (option.isOfNextMount() ? " Takes effect at the next mount." : "");
    }

    private static void add(CommandSpec command, VolumeOptions.Section section) {
        List<OptionSpec> specs = new ArrayList<>();
        for (VolumeOption<?> option : section.options()) {
            if (!option.name().isEmpty()) {
                String end = option.defaultText().isEmpty() ? "" : " Default: " + option.defaultText() + ".";
                specs.add(spec(option.name(), option, option.text() + end, option::parse));
            }
        }
        if (section.heading().isEmpty()) {
            specs.forEach(command::addOption);
        } else {
            var group = ArgGroupSpec.builder().validate(false).heading("%n" + section.heading() + ":%n");
            specs.forEach(group::addArg);
            command.addArgGroup(group.build());
        }
    }

    /** Returns the option of sar-plugin for a setting: its attribute without {@code sar-}, and a shorter name. */
    private static OptionSpec ofPlugin(VolumeOption<?> option) {
        String name = pluginName(option);
        String words = option.defaultOfPlugin();
        String end = words.isEmpty() ? "" : " Default: " + words + ".";
        var spec = OptionSpec.builder(spec(name, option, option.text() + end, option::parse));
        String shorter = SHORTER.get(name);
        return (shorter == null ? spec : spec.names(shorter, name)).build();
    }

    private static String pluginName(VolumeOption<?> option) {
        return option.ofPlugin().replaceFirst("^sar-", "--");
    }

    /** Returns the settings of the plugin that the command line gave, by their attributes. */
    public static Map<String, String> ofPlugin(CommandSpec command) {
        var settings = new LinkedHashMap<String, String>();
        for (VolumeOption<?> option : PluginOptions.ALL) {
            String text = matched(command, pluginName(option));
            if (text != null) {
                settings.put(option.ofPlugin(), text);
            }
        }
        return settings;
    }

    /** Returns the options that a command changes, by their names for it. */
    private static Map<String, VolumeOption<?>> changed(CommandSpec command) {
        CommandSpec parent = command.parent();
        // Only a subcommand of a command of a volume is named with it.
        String start = (parent.parent() == null ? "" : parent.name() + " ") + command.name() + " ";
        var changed = new LinkedHashMap<String, VolumeOption<?>>();
        for (VolumeOption<?> option : VolumeOptions.ALL) {
            if (option.changedBy().startsWith(start)) {
                changed.put(option.changedBy().substring(start.length()), option);
            }
        }
        return changed;
    }

    private static OptionSpec spec(String name, VolumeOption<?> option, String text, Function<String, ?> parser) {
        // Before the command's own options, whose order is -1.
        var spec = OptionSpec.builder(name).order(-2).description(text.replace("%", "%%"));
        return option.label().isEmpty()
                ? spec.type(boolean.class).build()
                : spec.type(String.class)
                        .arity("1")
                        .paramLabel(option.label())
                        .converters(value -> checked(parser, value))
                        .build();
    }

    /** Returns the text, so that picocli names the option of a wrong one. */
    private static String checked(Function<String, ?> parser, String text) {
        try {
            var unused = parser.apply(text);
            return text;
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    /**
     * Returns the name of a volume that the command line gave.
     *
     * @param usage makes what is thrown of a text that no volume can have as its name, such as a path
     */
    public static String volumeName(String text, Function<String, ParameterException> usage) {
        try {
            return VolumeOptions.NAME.parse(text);
        } catch (IllegalArgumentException e) {
            throw usage.apply(String.valueOf(e.getMessage()));
        }
    }

    /** Returns the values that the command line gave to mkfs.sdfs. */
    public static OptionValues given(CommandSpec command) {
        OptionValues values = OptionValues.NONE;
        for (VolumeOption<?> option : VolumeOptions.ALL) {
            String text = matched(command, option.name());
            values = text == null ? values : values.withText(option, text);
        }
        return values;
    }

    /** Returns the values that the command line gave to a command that changes options, for the control socket. */
    public static Map<String, Object> changes(CommandSpec command) {
        var changes = new LinkedHashMap<String, Object>();
        changed(command).forEach((name, option) -> {
            String text = matched(command, name);
            if (text != null) {
                changes.put(option.key(), json(option, text));
            }
        });
        return changes;
    }

    /**
     * Returns the texts that the command line gave to a command that changes options, by their names without dashes.
     */
    public static Map<String, String> texts(CommandSpec command) {
        var texts = new LinkedHashMap<String, String>();
        changed(command).keySet().forEach(name -> {
            String text = matched(command, name);
            if (text != null) {
                texts.put(name.substring(2), text);
            }
        });
        return texts;
    }

    private static <T> Object json(VolumeOption<T> option, String text) {
        return option.json(option.read(text));
    }

    private static @Nullable String matched(CommandSpec command, String name) {
        ParseResult parsed = command.commandLine().getParseResult();
        return !name.isEmpty() && parsed.hasMatchedOption(name)
                ? String.valueOf(parsed.<Object>matchedOptionValue(name, ""))
                : null;
    }
}
