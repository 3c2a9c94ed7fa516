package org.opendedup.sar.sdfs.health;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.opendedup.sar.common.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Judges the health of a mounted volume on request and every few seconds, and reports each change. Safe for use by many
 * threads.
 *
 * @param <F> the facts by which it is judged
 */
public final class HealthWatch<F> implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HealthWatch.class);
    private static final int PERIOD_SECONDS = 5;

    /** Collects the facts. */
    @FunctionalInterface
    public interface Source<F> {
        F facts() throws IOException;
    }

    /** What the rules decided, and from which facts. */
    public record Judgement<F>(Health health, List<Finding> findings, F facts) {}

    private final Source<F> source;
    private final Function<F, List<Finding>> rules;
    private final ScheduledExecutorService timer =
            Executors.newSingleThreadScheduledExecutor(Threads.named("sdfs-health"));
    /** Guarded by this. */
    private Health reported = Health.WELL;
    /** Names of the findings. Guarded by this. */
    private Set<String> reportedIds = Set.of();
    /** Guarded by this. */
    private final List<Consumer<Judgement<F>>> listeners = new ArrayList<>();

    /** @param rules return what is wrong, the worst first */
    public HealthWatch(Source<F> source, Function<F, List<Finding>> rules) {
        this.source = source;
        this.rules = rules;
    }

    /** Begins to judge every few seconds. */
    public void start() {
        var unused = timer.scheduleWithFixedDelay(Threads.lasting(this::tick), 0, PERIOD_SECONDS, TimeUnit.SECONDS);
    }

    /** Adds a listener for changes of the health and of what is wrong. */
    public synchronized void listen(Consumer<Judgement<F>> toTell) {
        listeners.add(toTell);
    }

    /** Judges the health now. Reports it if it, or what is wrong, has changed. */
    public Judgement<F> judge() throws IOException {
        F facts = source.facts();
        List<Finding> findings = rules.apply(facts);
        var judgement = new Judgement<>(Finding.healthOf(findings), findings, facts);
        reportChange(judgement);
        return judgement;
    }

    private synchronized void reportChange(Judgement<F> judgement) {
        Set<String> ids = judgement.findings().stream().map(Finding::id).collect(Collectors.toUnmodifiableSet());
        if (judgement.health() != reported || !ids.equals(reportedIds)) {
            reported = judgement.health();
            reportedIds = ids;
            listeners.forEach(listener -> listener.accept(judgement));
        }
    }

    private void tick() {
        try {
            var unused = judge();
        } catch (IOException | RuntimeException e) {
            // The next try may succeed; an exception would end the timer.
            LOG.warn("whether the volume is well is not known: {}", e.toString());
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
