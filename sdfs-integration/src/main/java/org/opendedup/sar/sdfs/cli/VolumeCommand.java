package org.opendedup.sar.sdfs.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** A command of {@code sdfscli VOLUME}. */
abstract class VolumeCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    VolumeClient parent;

    final VolumeClient cli() {
        return Objects.requireNonNull(parent);
    }

    final void print(String line) {
        cli().environment().out().println(line);
    }

    /** Prints a report as JSON if that is wanted, or else as the given text. */
    final void print(Map<String, ?> report, String text) {
        print(cli().json ? Json.pretty(report) : text);
    }

    /** Returns a report that begins with the volume's name. */
    Map<String, Object> named(Map<String, ?> report) {
        var named = new LinkedHashMap<String, Object>();
        named.put("name", cli().name());
        named.putAll(report);
        return named;
    }

    final ParameterException usage(String message) {
        return new ParameterException(Objects.requireNonNull(spec).commandLine(), message);
    }
}
