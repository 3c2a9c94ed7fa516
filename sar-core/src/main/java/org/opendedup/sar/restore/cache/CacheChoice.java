package org.opendedup.sar.restore.cache;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.restore.cache.CacheParameters.Counting;

/**
 * A policy with the lookahead paper's parameters, as {@code --restore-cache} names them: {@code POLICY} or
 * {@code POLICY:PARAMETER=VALUE,...}.
 *
 * @param hotThreshold {@code hot}: a container is hot if the window has references to more than this share of its
 *     chunks, 0 to 1 (lookahead paper §3.2); only of {@link CachePolicy#LOOKAHEAD_LOG}
 * @param counting {@code references}: how references to containers are counted (lookahead paper §3.4); only of the
 *     paper's two policies
 */
public record CacheChoice(CachePolicy policy, double hotThreshold, Counting counting) {
    public static final CacheChoice DEFAULT = of(CachePolicy.DEFAULT);

    /** Values that {@link #parse} accepts beyond the names of policies. */
    private static final String ALLOWED =
            "lookahead-log:hot=SHARE,references=exact|bloom and lookahead-base:references=exact|bloom are allowed, with"
                    + " a share of 0% to 100%";

    /** @throws IllegalArgumentException if a parameter is out of range, or the policy has none of it */
    public CacheChoice {
        boolean isShare = hotThreshold >= 0 && hotThreshold <= 1;
        boolean isLog = policy == CachePolicy.LOOKAHEAD_LOG;
        boolean usesHot = hotThreshold != CacheParameters.DEFAULT_HOT_THRESHOLD;
        boolean usesBloom = counting != Counting.EXACT;
        if (!isShare || usesHot && !isLog || usesBloom && !isLog && policy != CachePolicy.LOOKAHEAD_BASE) {
            throw new IllegalArgumentException("a restore cache " + policy.label() + " with a hot threshold of "
                    + hotThreshold + " and " + name(counting) + " counts is not known; " + ALLOWED);
        }
    }

    /** Returns a policy with its default parameters. */
    public static CacheChoice of(CachePolicy policy) {
        return new CacheChoice(policy, CacheParameters.DEFAULT_HOT_THRESHOLD, Counting.EXACT);
    }

    /** Returns these parameters beside others. */
    CacheParameters applyTo(CacheParameters parameters) {
        return parameters.withHotThreshold(hotThreshold).withCounting(counting);
    }

    /** Makes an empty cache for one reader. */
    public ContainerCache make(CacheParameters parameters, ChunkHolder holder) {
        return policy.make(applyTo(parameters), holder);
    }

    /**
     * Parses {@code POLICY} or {@code POLICY:PARAMETER=VALUE,...}; upper and lower case mean the same.
     *
     * @throws IllegalArgumentException if the text is none of these; the message names what is allowed
     */
    public static CacheChoice parse(String text) {
        String[] parts = text.toLowerCase(Locale.ROOT).split(":", 2);
        CachePolicy policy = CachePolicy.of(parts[0]);
        if (parts.length == 1) {
            return of(policy);
        }
        Map<String, String> given = new LinkedHashMap<>();
        for (String parameter : parts[1].split(",", -1)) {
            String[] nameAndValue = parameter.split("=", 2);
            if (nameAndValue.length < 2 || given.put(nameAndValue[0], nameAndValue[1]) != null) {
                throw problem(parameter);
            }
        }
        String hot = given.remove("hot");
        String counting = given.remove("references");
        if (!given.isEmpty()) {
            throw problem(given.keySet().iterator().next());
        }
        return new CacheChoice(
                policy,
                hot == null ? CacheParameters.DEFAULT_HOT_THRESHOLD : share(hot),
                counting == null ? Counting.EXACT : counting(counting));
    }

    private static IllegalArgumentException problem(String parameter) {
        return new IllegalArgumentException("'" + parameter + "' is no parameter of a restore cache; " + ALLOWED);
    }

    private static double share(String text) {
        try {
            return text.endsWith("%")
                    ? new BigDecimal(text.substring(0, text.length() - 1))
                            .movePointLeft(2)
                            .doubleValue()
                    : new BigDecimal(text).doubleValue();
        } catch (NumberFormatException e) {
            IllegalArgumentException problem = problem("hot=" + text);
            problem.initCause(e);
            throw problem;
        }
    }

    private static Counting counting(String text) {
        for (Counting counting : Counting.values()) {
            if (name(counting).equals(text)) {
                return counting;
            }
        }
        throw problem("references=" + text);
    }

    private static String name(Counting counting) {
        return counting.name().toLowerCase(Locale.ROOT);
    }

    /** Returns the text that {@link #parse} accepts for this choice: parameters only where they are not the default. */
    @Override
    public String toString() {
        String hot = hotThreshold == CacheParameters.DEFAULT_HOT_THRESHOLD
                ? ""
                : ",hot="
                        + BigDecimal.valueOf(hotThreshold)
                                .movePointRight(2)
                                .stripTrailingZeros()
                                .toPlainString()
                        + "%";
        String counts = counting == Counting.EXACT ? "" : ",references=" + name(counting);
        String parameters = hot + counts;
        return policy.label() + (parameters.isEmpty() ? "" : ":" + parameters.substring(1));
    }
}
