package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.command.SizeConverter;
import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.tier.policy.TierSettings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code sdfscli VOLUME sar set}: changes parameters, at once and for later mounts. */
@Command(
        name = "set",
        description = {
            "Changes parameters of a mounted volume and keeps them in the volume file.",
            "",
            "Chunks that no longer qualify are demoted in the background. If the volume is not mounted, only the",
            "volume file is changed.",
            ""
        },
        customSynopsis = "sdfscli VOLUME sar set OPTION... [--wait] [--json]%n",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Examples:",
            "  sdfscli pool0 sar set --threshold=10 --wait    # demotes chunks with fewer than 10 references",
            "  sdfscli pool0 sar set --policy=cost            # ranks chunks by the disk time that a copy saves",
            "  sdfscli pool0 sar set --enabled=false          # stops promoting; copies are still read"
        })
final class SarSetCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    @ParentCommand
    @Nullable
    SarCommand parent;

    @Option(
            names = "--threshold",
            paramLabel = "N",
            description = "Number of references from which the policy reference-count promotes a chunk; 1 or more.")
    @Nullable
    Integer threshold;

    @Option(
            names = "--max-run",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Length from which runs of neighbouring chunks stay on the disk.")
    @Nullable
    Long maxRunBytes;

    @Option(
            names = "--policy",
            paramLabel = "POLICY",
            converter = SarOptions.PolicyConverter.class,
            description = "Ranking of chunks: reference-count, cost or open.")
    TierSettings.@Nullable Policy policy;

    @Option(
            names = "--promote-on-read",
            arity = "1",
            paramLabel = "true|false",
            description = "Promote chunks on a second read from the disk too.")
    @Nullable
    Boolean promoteOnRead;

    @Option(names = "--enabled", arity = "1", paramLabel = "true|false", description = "Promote chunks.")
    @Nullable
    Boolean enabled;

    @Option(
            names = "--lru-entries",
            paramLabel = "N",
            description =
                    "Number of entries in the list of recent disk reads. Takes effect when the SSD is attached or the"
                            + " volume is mounted.")
    @Nullable
    Integer lruEntries;

    @Option(names = "--wait", description = "Wait until the resulting demotion has ended, and show its progress.")
    boolean wait;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException, InterruptedException {
        Map<String, Object> changes = changes();
        if (changes.isEmpty()) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(), "name a parameter to set, such as --threshold=10");
        }
        new ParameterChange(Objects.requireNonNull(parent), json, wait).run(changes);
        return ExitCode.OK;
    }

    private Map<String, Object> changes() {
        var changes = new LinkedHashMap<String, Object>();
        changes.put(SarParameters.REFERENCE_COUNT_THRESHOLD, threshold);
        changes.put(SarParameters.MAX_RUN_BYTES, maxRunBytes);
        changes.put(SarParameters.POLICY, policy == null ? null : SarParameters.spelling(policy));
        changes.put(SarParameters.PROMOTE_ON_READ, promoteOnRead);
        changes.put(SarParameters.ENABLED, enabled);
        changes.put(SarParameters.LRU_ENTRIES, lruEntries);
        changes.values().removeIf(Objects::isNull);
        return changes;
    }
}
