package org.opendedup.sar.sdfs.log;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides which events of a log are shown, and counts the others exactly. In any sequence of calls, events = events
 * shown + the sum of the counts already drained + the counts that a last {@link #drain} returns. Each event has a kind
 * and a text. The caller ends a period by {@link #drain}. Within a period:
 *
 * <ul>
 *   <li>the first event of a text is shown; later ones of the same text are counted,
 *   <li>of each kind, {@link #MAX_TEXTS} texts are shown; the others are counted together.
 * </ul>
 *
 * <p>A text that was repeated in a period is not shown again in the next one: only its count is. Memory: at most
 * {@link #MAX_KINDS} kinds with {@link #MAX_TEXTS} texts each, of at most {@link #MAX_TEXT_CHARS} characters.
 * Thread-safe.
 */
final class Repeats {
    /** Maximum number of texts of one kind that are shown in a period. */
    static final int MAX_TEXTS = 100;

    /** Maximum number of kinds: more than the program reports in a minute. Further kinds share one kind per level. */
    static final int MAX_KINDS = 40;

    /** Number of characters compared: texts that are equal up to this length count as the same. */
    static final int MAX_TEXT_CHARS = 2000;

    /** How an event is shown. */
    enum Showing {
        /** The first event of its kind: shown in full. */
        WHOLE,
        /** Only the text is shown. Details, such as a stack trace, were shown with an earlier event of its kind. */
        TEXT,
        /** Not shown, but counted. */
        NONE
    }

    /**
     * The common properties of the events that one place in the program reports.
     *
     * @param logger name of the logger
     * @param level as a number; a higher number is more severe
     * @param statement the message without its arguments
     * @param cause what was thrown and where; empty if nothing was thrown
     */
    record Kind(String logger, int level, String statement, String cause) {}

    /**
     * Events that were not shown.
     *
     * @param text their text; if there are several, the last one
     * @param count number of events, at least 1
     * @param various true if they had texts of which none was shown
     */
    record Summary(Kind kind, String text, long count, boolean various) {}

    /** Guarded by this, including the values. */
    private final Map<Kind, Known> kinds = new LinkedHashMap<>();

    private static final class Known {
        /** Texts that were shown, with the number of repeats since then. */
        final Map<String, Long> shown = new LinkedHashMap<>();

        long others;
        String lastOther = "";
    }

    /** Decides whether to show an event, and counts it if not. */
    synchronized Showing offer(Kind kind, String text) {
        Known known = kinds.get(kind);
        boolean isFirst = known == null;
        if (known == null) {
            known = add(kind);
        }
        String key = text.length() <= MAX_TEXT_CHARS ? text : text.substring(0, MAX_TEXT_CHARS);
        if (known.shown.computeIfPresent(key, (same, count) -> count + 1) != null) {
            return Showing.NONE;
        }
        if (known.shown.size() == MAX_TEXTS) {
            known.others++;
            known.lastOther = key;
            return Showing.NONE;
        }
        known.shown.put(key, 0L);
        return isFirst ? Showing.WHOLE : Showing.TEXT;
    }

    private Known add(Kind kind) {
        Kind held = kinds.size() < MAX_KINDS ? kind : new Kind("log", kind.level(), "", "");
        return kinds.computeIfAbsent(held, any -> new Known());
    }

    /** Ends a period: returns its counts, and forgets texts that were not repeated. */
    synchronized List<Summary> drain() {
        var summaries = new ArrayList<Summary>();
        kinds.forEach((kind, known) -> {
            known.shown.forEach((text, count) -> {
                if (count > 0) {
                    summaries.add(new Summary(kind, text, count, false));
                }
            });
            if (known.others > 0) {
                summaries.add(new Summary(kind, known.lastOther, known.others, true));
            }
            known.shown.values().removeIf(count -> count == 0);
            known.shown.replaceAll((text, count) -> 0L);
            known.others = 0;
        });
        kinds.values().removeIf(known -> known.shown.isEmpty());
        return summaries;
    }
}
