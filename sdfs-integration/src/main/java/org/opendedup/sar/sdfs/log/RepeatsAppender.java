package org.opendedup.sar.sdfs.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import ch.qos.logback.core.spi.AppenderAttachable;
import ch.qos.logback.core.spi.AppenderAttachableImpl;
import java.util.Iterator;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.log.Repeats.Kind;
import org.opendedup.sar.sdfs.log.Repeats.Showing;
import org.opendedup.sar.sdfs.log.Repeats.Summary;
import org.slf4j.LoggerFactory;

/**
 * Passes events to other appenders and limits their number by {@link Repeats}: no log statement can flood them,
 * whatever calls it. Logs the counts of the other events once a minute, and when the daemon ends. Shows a stack trace
 * only with the first event of its kind. Does not limit events below INFO, which an administrator has enabled, or
 * events marked with {@link EachEvent}.
 */
public final class RepeatsAppender extends UnsynchronizedAppenderBase<ILoggingEvent>
        implements AppenderAttachable<ILoggingEvent> {
    private static final long PERIOD_SECONDS = 60;

    private final AppenderAttachableImpl<ILoggingEvent> attached = new AppenderAttachableImpl<>();
    private final Repeats repeats = new Repeats();
    private final LongAdder warnings = new LongAdder();
    private final LongAdder errors = new LongAdder();
    private @Nullable ScheduledFuture<?> ticks;
    private volatile long periodStart = System.nanoTime();

    @Override
    public void start() {
        ticks = getContext()
                .getScheduledExecutorService()
                .scheduleAtFixedRate(this::tellCounts, PERIOD_SECONDS, PERIOD_SECONDS, TimeUnit.SECONDS);
        super.start();
    }

    @Override
    public void stop() {
        if (!isStarted()) {
            return;
        }
        super.stop();
        if (ticks != null) {
            ticks.cancel(false);
        }
        tellCounts();
        attached.detachAndStopAllAppenders();
    }

    /** Logs the counts of all appenders of this kind in the process. Called when the process is about to end. */
    public static void tellAll() {
        forEach(RepeatsAppender::tellCounts);
    }

    private static void forEach(Consumer<RepeatsAppender> action) {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            context.getLogger(Logger.ROOT_LOGGER_NAME).iteratorForAppenders().forEachRemaining(appender -> {
                if (appender instanceof RepeatsAppender bounded) {
                    action.accept(bounded);
                }
            });
        }
    }

    /**
     * The events of a process's log.
     *
     * @param warnings events of level WARN, shown or only counted
     * @param errors events of level ERROR, likewise
     */
    public record Logged(long warnings, long errors) {}

    /** Returns the number of events that all appenders of this kind in the process received. */
    public static Logged logged() {
        var sum = new long[2];
        forEach(bounded -> {
            sum[0] += bounded.warnings.sum();
            sum[1] += bounded.errors.sum();
        });
        return new Logged(sum[0], sum[1]);
    }

    @Override
    protected void append(ILoggingEvent event) {
        if (event.getLevel().isGreaterOrEqual(Level.ERROR)) {
            errors.increment();
        } else if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
            warnings.increment();
        }
        if (!event.getLevel().isGreaterOrEqual(Level.INFO) || isMarked(event)) {
            attached.appendLoopOnAppenders(event);
            return;
        }
        String text = EventText.of(event);
        Kind kind = new Kind(
                event.getLoggerName(),
                event.getLevel().toInt(),
                String.valueOf(event.getMessage()),
                cause(event.getThrowableProxy()));
        Showing showing = repeats.offer(kind, text);
        if (showing == Showing.WHOLE || showing == Showing.TEXT && event.getThrowableProxy() == null) {
            attached.appendLoopOnAppenders(event);
        } else if (showing == Showing.TEXT) {
            LoggingEvent line = event(event.getLoggerName(), event.getLevel(), text);
            line.setThreadName(event.getThreadName());
            attached.appendLoopOnAppenders(line);
        }
    }

    private static boolean isMarked(ILoggingEvent event) {
        return event.getMarkerList() != null && event.getMarkerList().contains(EachEvent.MARKER);
    }

    /** Ends a period and logs its counts. */
    void tellCounts() {
        long now = System.nanoTime();
        long seconds = Math.max(1, TimeUnit.NANOSECONDS.toSeconds(now - periodStart));
        periodStart = now;
        for (Summary counted : repeats.drain()) {
            LoggingEvent line =
                    event(counted.kind().logger(), Level.toLevel(counted.kind().level()), words(counted, seconds));
            line.setThreadName("log");
            attached.appendLoopOnAppenders(line);
        }
    }

    private static String words(Summary counted, long seconds) {
        return counted.various()
                ? counted.count() + " more like the ones before in the last " + seconds + " s, the last one: "
                        + counted.text()
                : counted.count() + " more times in the last " + seconds + " s: " + counted.text();
    }

    private LoggingEvent event(String logger, Level level, String text) {
        Logger source = ((LoggerContext) getContext()).getLogger(logger);
        return new LoggingEvent(RepeatsAppender.class.getName(), source, level, text, null, null);
    }

    /** Returns the types of the exception and its causes, and the place where each of them was thrown. */
    private static String cause(@Nullable IThrowableProxy outermost) {
        var text = new StringBuilder();
        IThrowableProxy thrown = outermost;
        while (thrown != null && text.length() < Repeats.MAX_TEXT_CHARS) {
            text.append(thrown.getClassName());
            StackTraceElementProxy[] steps = thrown.getStackTraceElementProxyArray();
            // The JVM omits the stack trace of an exception that is thrown repeatedly.
            text.append(' ').append(steps.length == 0 ? "" : steps[0].getSTEAsString());
            thrown = thrown.isCyclic() ? null : thrown.getCause();
        }
        return text.toString();
    }

    @Override
    public void addAppender(Appender<ILoggingEvent> appender) {
        attached.addAppender(appender);
    }

    @Override
    public Iterator<Appender<ILoggingEvent>> iteratorForAppenders() {
        return attached.iteratorForAppenders();
    }

    @Override
    public @Nullable Appender<ILoggingEvent> getAppender(String name) {
        return attached.getAppender(name);
    }

    @Override
    public boolean isAttached(Appender<ILoggingEvent> appender) {
        return attached.isAttached(appender);
    }

    @Override
    public void detachAndStopAllAppenders() {
        attached.detachAndStopAllAppenders();
    }

    @Override
    public boolean detachAppender(Appender<ILoggingEvent> appender) {
        return attached.detachAppender(appender);
    }

    @Override
    public boolean detachAppender(String name) {
        return attached.detachAppender(name);
    }
}
