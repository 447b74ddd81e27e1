//! The means of the grades of several questions.

use crate::graded::GradedQuestion;

/// The means of grades.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mean {
    pub(crate) num_questions: usize,
    pub(crate) ndcg: f64,
    pub(crate) reciprocal_rank: f64,
    pub(crate) recall: f64,
    pub(crate) best_order: f64,
}

impl Mean {
    pub(crate) fn of<'a>(asked: impl Iterator<Item = &'a GradedQuestion>) -> Self {
        let mut sum = Mean::default();
        for asked in asked {
            sum.num_questions += 1;
            sum.ndcg += asked.grades.ndcg;
            sum.reciprocal_rank += asked.grades.reciprocal_rank;
            sum.recall += asked.grades.recall;
            sum.best_order += asked.grades.best_order;
        }
        let count = sum.num_questions.max(1) as f64;
        Mean {
            num_questions: sum.num_questions,
            ndcg: sum.ndcg / count,
            reciprocal_rank: sum.reciprocal_rank / count,
            recall: sum.recall / count,
            best_order: sum.best_order / count,
        }
    }

    pub(crate) fn to_json(self) -> serde_json::Value {
        serde_json::json!({
            "questions": self.num_questions,
            "ndcg_at_10": self.ndcg,
            "mrr": self.reciprocal_rank,
            "recall_at_10": self.recall,
            "ndcg_of_best_order": self.best_order,
        })
    }
}
