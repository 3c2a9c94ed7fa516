package org.opendedup.sar.sdfs.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import ch.qos.logback.core.encoder.Encoder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.io.LogFile;
import org.opendedup.sar.io.SystemLog;

/**
 * Writes log events to a {@link LogFile}. If the file cannot be written, events of WARN and above are sent to the
 * system log. Those that the system log does not accept at once wait in memory for either place: the first
 * {@value #MAX_WAITING} lines. A line counts as written when it is on the disk: lines that were appended but cannot be
 * made durable ({@link LogFile#force}, some seconds later) are sent to the system log too. When the file can be written
 * again, a line in it states how many lines may be missing, and where they are.
 */
public final class LogFileAppender extends UnsynchronizedAppenderBase<ILoggingEvent> {
    /** Maximum number of lines that wait in memory, and of lines remembered until they are on the disk. */
    static final int MAX_WAITING = 200;

    /** Maximum size of each file. */
    private static final long MAX_FILE_BYTES = 10 << 20;

    /** Number of full files that are kept. */
    private static final int OLDER_FILES = 5;

    private static final long TICK_SECONDS = 5;
    private static final String LOG_ENDING = ".log";

    private String file = "";
    private String socket = "";
    private @Nullable Encoder<ILoggingEvent> encoder;
    private @Nullable ScheduledFuture<?> ticks;

    private @Nullable LogFile log;
    private @Nullable SystemLog systemLog;

    /** Lines that were appended and may not be on the disk yet. Guarded by this, like all fields below. */
    private final Deque<Line> unforced = new ArrayDeque<>();

    private long unforcedRest;
    private final Deque<Line> waiting = new ArrayDeque<>();
    /** Start of the current failure of the file; null while the file can be written. */
    private @Nullable Instant failingSince;

    private String reason = "";
    private long missing;
    private long sentToSystem;

    /** @param brief text on one line for the system log; null below WARN */
    private record Line(byte[] bytes, @Nullable String brief, int severity) {}

    /** Sets the path of the file. Older files are in the same folder, with a number appended. */
    public void setFile(String file) {
        this.file = file;
    }

    /** Sets the path of the system log's socket; if empty, {@link SystemLog#SOCKET}. */
    public void setSocket(String socket) {
        this.socket = socket;
    }

    public void setEncoder(Encoder<ILoggingEvent> encoder) {
        this.encoder = encoder;
    }

    @Override
    public void start() {
        if (encoder == null || file.isEmpty()) {
            addError("a file and an encoder are needed");
            return;
        }
        Path path = Path.of(file);
        log = new LogFile(path, MAX_FILE_BYTES, OLDER_FILES);
        systemLog = new SystemLog(socket.isEmpty() ? SystemLog.SOCKET : Path.of(socket), tag(path));
        ticks = getContext()
                .getScheduledExecutorService()
                .scheduleWithFixedDelay(this::tick, TICK_SECONDS, TICK_SECONDS, TimeUnit.SECONDS);
        super.start();
    }

    private static String tag(Path path) {
        String name = String.valueOf(path.getFileName());
        return "sdfs-" + (name.endsWith(LOG_ENDING) ? name.substring(0, name.length() - LOG_ENDING.length()) : name);
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
        tick();
        try {
            requireLog().close();
        } catch (IOException e) {
            addWarn("closing " + file, e);
        }
    }

    private LogFile requireLog() {
        if (log == null) {
            throw new IllegalStateException("not started");
        }
        return log;
    }

    @Override
    protected void append(ILoggingEvent event) {
        Line line = line(event);
        synchronized (this) {
            if (failingSince != null) {
                tellWhatIsMissing();
            }
            write(line);
        }
    }

    private Line line(ILoggingEvent event) {
        if (encoder == null) {
            throw new IllegalStateException("not started");
        }
        boolean isGrave = event.getLevel().isGreaterOrEqual(Level.WARN);
        String logger = event.getLoggerName();
        String brief = event.getLevel() + " " + logger.substring(logger.lastIndexOf('.') + 1) + ": "
                + Printable.line(EventText.of(event));
        return new Line(
                encoder.encode(event),
                isGrave ? brief : null,
                event.getLevel().isGreaterOrEqual(Level.ERROR) ? SystemLog.ERROR : SystemLog.WARNING);
    }

    private void write(Line line) {
        try {
            requireLog().append(line.bytes);
        } catch (IOException e) {
            noteMissing(line, e);
            return;
        }
        if (line.brief != null && unforced.size() < MAX_WAITING) {
            unforced.add(line);
        } else {
            unforcedRest++;
        }
    }

    private void noteMissing(Line line, IOException cause) {
        noteFailing(cause);
        missing++;
        if (line.brief == null) {
            return;
        }
        if (toSystem(line.severity, line.brief)) {
            sentToSystem++;
        } else if (waiting.size() < MAX_WAITING) {
            waiting.add(line);
        }
    }

    private void noteFailing(IOException cause) {
        if (failingSince == null) {
            failingSince = Instant.now().truncatedTo(ChronoUnit.SECONDS);
            reason = Printable.line(String.valueOf(cause.getMessage()));
            toSystem(
                    SystemLog.ERROR,
                    "the log " + Printable.line(file) + " cannot be written (" + reason
                            + "); warnings and errors are printed here until it can");
        }
    }

    /** Sends waiting lines until the system log refuses one: it accepts only a few lines at once. */
    private void sendWaiting() {
        for (Line next = waiting.peek(); next != null; next = waiting.peek()) {
            if (next.brief == null || !toSystem(next.severity, next.brief)) {
                return;
            }
            sentToSystem++;
            waiting.remove();
        }
    }

    private boolean toSystem(int severity, String text) {
        if (systemLog == null) {
            return false;
        }
        try {
            systemLog.send(severity, text);
            return true;
        } catch (IOException e) {
            addWarn("the system's log accepts nothing", e);
            return false;
        }
    }

    /** Writes how many lines are missing, and the lines that waited: all in one write, or nothing. */
    private void tellWhatIsMissing() {
        var lines = new ByteArrayOutputStream();
        Line head = missingLine();
        lines.writeBytes(head.bytes);
        waiting.forEach(line -> lines.writeBytes(line.bytes));
        try {
            requireLog().append(lines.toByteArray());
        } catch (IOException e) {
            return;
        }
        unforced.add(head);
        unforced.addAll(waiting);
        waiting.clear();
        failingSince = null;
        missing = 0;
        sentToSystem = 0;
    }

    private Line missingLine() {
        String text = missing + " lines may be missing here since " + failingSince + " (" + reason + "): "
                + sentToSystem + " went to the system's log, " + waiting.size() + " follow, "
                + (missing - sentToSystem - waiting.size()) + " are lost";
        var source = ((LoggerContext) getContext()).getLogger(LogFileAppender.class);
        LoggingEvent event = new LoggingEvent(LogFileAppender.class.getName(), source, Level.WARN, text, null, null);
        event.setThreadName("log");
        return line(event);
    }

    /** Checks whether the appended lines are on the disk, and whether a file that failed can be written again. */
    void tick() {
        Deque<Line> forced;
        long rest;
        synchronized (this) {
            if (failingSince != null) {
                sendWaiting();
                tellWhatIsMissing();
            }
            if (unforced.isEmpty() && unforcedRest == 0) {
                return;
            }
            forced = new ArrayDeque<>(unforced);
            rest = unforcedRest;
            unforced.clear();
            unforcedRest = 0;
        }
        try {
            requireLog().force();
        } catch (IOException e) {
            synchronized (this) {
                noteFailing(e);
                missing += rest;
                forced.forEach(line -> noteMissing(line, e));
            }
        }
    }
}
